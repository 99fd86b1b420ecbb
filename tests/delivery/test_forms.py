"""Messages after the moves of a delivery, which the admin and the board show."""

import pytest
from django.utils import timezone, translation

from common.formats import short_id
from delivery.actions import moves
from delivery.forms import _DONE, done
from delivery.lifecycle import Mode
from tests.factories import BY, DeliveryFactory, DriverFactory


def perform(name, delivery, **fields):
    return moves.perform(name, delivery=delivery, fields=fields, by=BY, at=timezone.now())


class TestDone:
    def test_has_a_text_for_each_move(self):
        assert set(_DONE) == set(moves.MOVES)

    @pytest.mark.parametrize(
        ("name", "state", "fields", "text"),
        [
            ("accept", {}, {}, "Rota {} designada a Pedro."),
            ("release", {"accepted": True}, {}, "Rota {} oferecida de novo aos entregadores."),
            ("collect", {"accepted": True}, {}, "Rota {} coletada por Pedro."),
            ("deliver", {"collected": True}, {"point": "B"}, "Rota {}: ponto B entregue. Falta 1 ponto."),
            (
                "deliver",
                {"collected": True, "stops": 1},
                {"point": "B"},
                "Rota {}: ponto B entregue. A rota está concluída.",
            ),
            (
                "deliver",
                {"collected": True, "stops": 1, "mode": Mode.RETURN},
                {"point": "B"},
                "Rota {}: ponto B entregue. Pedro volta agora para A.",
            ),
            (
                "fail",
                {"collected": True},
                {"point": "B", "reason": "Recusado"},
                "Rota {}: ponto B não entregue. Falta 1 ponto.",
            ),
            ("cancel", {}, {}, "Rota {} cancelada, sem taxa."),
            ("cancel", {"accepted": True}, {}, "Rota {} cancelada, taxa de R$ 6,01."),
            ("cancel", {"collected": True}, {}, "Rota {} cancelada, taxa de R$ 20,04. Pedro volta agora para A."),
            ("position", {"accepted": True}, {"position": "-23.56,-46.65"}, "Posição de Pedro registrada na rota {}."),
        ],
    )
    def test_says_what_the_move_has_done_and_what_is_left(self, db, name, state, fields, text):
        driver = DriverFactory.create(name="Pedro")
        delivery = DeliveryFactory.create(driver=driver, **{"stops": 2, **state})

        moved = perform(name, delivery, **fields)

        with translation.override("pt-br"):
            assert done(name, moved, point=fields.get("point", "")) == text.format(short_id(delivery.pk))

    def test_says_that_the_driver_is_back(self, db):
        delivery = DeliveryFactory.create(collected=True, stops=1, driver=DriverFactory.create(name="Pedro"))
        perform("fail", delivery, point="B", reason="Recusado")

        moved = perform("return", delivery)

        assert done("return", moved) == f"Route {short_id(delivery.pk)}: Pedro is back at A."
