from typing import Any

from common.commands import JSONCommand
from delivery.drivers import web_push


class Command(JSONCommand):
    help = 'Make keys for Web Push; VAPID_PRIVATE_KEY takes the private one. Prints {"private_key","public_key"}.'

    def run(self, _options: dict[str, Any]) -> dict[str, str]:
        private = web_push.new_key()
        return {"private_key": private, "public_key": web_push.public_key(web_push.private_key(private))}
