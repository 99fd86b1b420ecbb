"""Files of freight rates, and the two steps of importing one."""

from django.core.files.uploadedfile import SimpleUploadedFile as File
from django.urls import reverse

OLD = "service,zone,origin_kind,dest_kind,base_centavos_up_to_1kg,extra_kg_centavos,deadline_days\n"
NEW = "serviço;zona;origem;destino;até 1 kg (R$);kg adicional (R$);prazo (dias úteis)\n"
ENGLISH = "service;zone;origin;destination;up to 1 kg;further kg;deadline\n"
LOCAL = "econômico;local;capital;capital;{};{};{}\n"


def url(page):
    return reverse(f"admin:integration_freightrate_{page}")


def upload(client, text, *, encoding="utf-8"):
    raw = text if isinstance(text, bytes) else text.encode(encoding)
    data = {"format": "0", "import_file": File("fretes.csv", raw)}
    return client.post(url("import"), data, headers={"Accept-Language": "pt-BR"})


def confirm(client, preview):
    return client.post(url("process_import"), preview.context["confirm_form"].initial, follow=True)
