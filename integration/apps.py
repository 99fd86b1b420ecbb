from django.utils.translation import gettext_lazy as _

from common.areas import AreaConfig


class IntegrationConfig(AreaConfig):
    """Area B: order integration."""

    default = True
    name = "integration"
    verbose_name = _("Order integration")
