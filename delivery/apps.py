from django.utils.translation import gettext_lazy as _

from common.areas import AreaConfig


class DeliveryConfig(AreaConfig):
    """Area A: immediate delivery."""

    default = True
    name = "delivery"
    verbose_name = _("Immediate delivery")
