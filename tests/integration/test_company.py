import pytest
from django.core.exceptions import ValidationError

from integration.models.seller import validate_document
from tests.integration.factories import COMPANY, OTHER_COMPANY


class TestValidateDocument:
    @pytest.mark.parametrize("document", [COMPANY, OTHER_COMPANY, "11.222.333/0001-81", "529.982.247-25"])
    def test_takes_a_document(self, document):
        validate_document(document)

    @pytest.mark.parametrize(
        "document", ["", COMPANY[:-1] + "2", "11111111111", "12" * 5000, "１１２２２３３３０００１８１", "²" * 11]
    )
    def test_refuses_any_other_text(self, document):
        with pytest.raises(ValidationError):
            validate_document(document)
