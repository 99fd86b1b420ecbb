"""A condition on many values whose plan does not depend on statistics."""

from typing import Any

from django.db.models import BooleanField, F, Func


def any_of(field: str, values: Any) -> Func:
    """The condition that `field`, the name of a column, is one of `values`: an ArraySubquery, or a Parameter of a list.

    In SQL `= ANY(ARRAY(…))`. PostgreSQL reads the array first, from the index of the subquery, and then the rows by
    their keys. With IN it may join instead, and as long as a table has no statistics it then reads all rows of an
    account: 112 ms with 100,000 deliveries.
    """
    return Func(F(field), values, template="%(expressions)s)", arg_joiner=" = ANY(", output_field=BooleanField())
