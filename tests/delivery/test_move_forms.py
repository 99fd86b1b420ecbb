"""Messages after the moves of a delivery, which the admin and the board show."""

from django.utils import timezone, translation

from common.brazil.formats import short_id
from delivery.actions import moves
from delivery.lifecycle import Mode
from delivery.move_forms import done
from tests.cases import in_turn
from tests.factories import BY, DeliveryFactory, DriverFactory


def perform(name, delivery, **fields):
    return moves.perform(name, delivery=delivery, fields=fields, by=BY, at=timezone.now())


class TestDone:
    @in_turn(
        ("name", "state", "fields", "text"),
        [
            ("deliver", {"collected": True}, {"point": "B"}, "Rota {}: ponto B entregue. Falta 1 parada."),
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
            ("cancel", {"accepted": True}, {}, "Rota {} cancelada, taxa de R$ 6,01."),
            ("cancel", {"collected": True}, {}, "Rota {} cancelada, taxa de R$ 20,04. Pedro volta agora para A."),
        ],
    )
    def test_says_what_the_move_has_done_and_what_is_left(self, db, name, state, fields, text):
        driver = DriverFactory.create(name="Pedro")
        delivery = DeliveryFactory.create(driver=driver, **{"stops": 2, **state})

        moved = perform(name, delivery, **fields)

        with translation.override("pt-br"):
            assert done(name, moved, point=fields.get("point", "")) == text.format(short_id(delivery.pk))
