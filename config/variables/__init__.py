"""Every variable of the environment that the product reads: what it means, its default and its check.

`config.checks` refuses wrong values. `manage.py environment` writes `.env.example` and the table of docs/operations.md.
"""

from config.variables.product import PRODUCT
from config.variables.service import SERVICE
from config.variables.variable import Variable

VARIABLES: dict[str, Variable] = {variable.name: variable for variable in (*SERVICE, *PRODUCT)}

__all__ = ["VARIABLES", "Variable"]
