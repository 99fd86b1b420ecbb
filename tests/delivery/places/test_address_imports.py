"""Files of addresses as IBGE and OpenAddresses give them, and `manage.py addresses`."""

import gzip
import io
import json
import sys
from zipfile import ZIP_DEFLATED, ZipFile

import osmium
import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from common.brazil.municipalities import Municipality
from delivery.geo.distance import Point
from delivery.places import address_imports, address_table
from delivery.places.address_files import Address
from delivery.places.address_table import StreetOfPostcode
from delivery.places.geocoding import Located, Precision
from delivery.places.models import AddressCity, AddressStreet, Form
from tests.overlapping import overlap

pytestmark = pytest.mark.django_db
# IBGE, dictionary of CNEFE 2022: all 34 columns, in their order.
HEADER = (
    "COD_UNICO_ENDERECO COD_UF COD_MUNICIPIO COD_DISTRITO COD_SUBDISTRITO COD_SETOR NUM_QUADRA NUM_FACE CEP"
    " DSC_LOCALIDADE NOM_TIPO_SEGLOGR NOM_TITULO_SEGLOGR NOM_SEGLOGR NUM_ENDERECO DSC_MODIFICADOR NOM_COMP_ELEM1"
    " VAL_COMP_ELEM1 NOM_COMP_ELEM2 VAL_COMP_ELEM2 NOM_COMP_ELEM3 VAL_COMP_ELEM3 NOM_COMP_ELEM4 VAL_COMP_ELEM4"
    " NOM_COMP_ELEM5 VAL_COMP_ELEM5 LATITUDE LONGITUDE NV_GEO_COORD COD_ESPECIE DSC_ESTABELECIMENTO"
    " COD_INDICADOR_ESTAB_ENDERECO COD_INDICADOR_CONST_ENDERECO COD_INDICADOR_FINALIDADE_CONST COD_TIPO_ESPECI"
).replace(" ", ";")
COLUMNS = HEADER.split(";")
HOUSE = {
    "COD_UNICO_ENDERECO": "1", "COD_UF": "35", "COD_MUNICIPIO": "3550308", "CEP": "01304001",
    "DSC_LOCALIDADE": "CONSOLAÇÃO", "NOM_TIPO_SEGLOGR": "RUA", "NOM_SEGLOGR": "AUGUSTA", "NUM_ENDERECO": "900",
    "LATITUDE": "-23.553100", "LONGITUDE": "-46.652900", "NV_GEO_COORD": "1", "COD_ESPECIE": "1",
}  # fmt: skip  # a row
CURITIBA = {**HOUSE, "COD_MUNICIPIO": "4106902", "CEP": "80020000", "LATITUDE": "-25.43", "LONGITUDE": "-49.27"}
ADDRESS = {"street": "Rua Augusta", "number": "900", "city": "São Paulo", "state": "SP"}
PLACE = Located(Point(-23.5531, -46.6529), Precision.ROOFTOP)


def cnefe(*rows, header=HEADER):
    return "\n".join([header, *(";".join((HOUSE | row).get(column, "") for column in COLUMNS) for row in rows), ""])


def openaddresses(*rows):
    columns = ("LON", "LAT", "NUMBER", "STREET", "UNIT", "CITY", "DISTRICT", "REGION", "POSTCODE", "ID", "HASH")
    row = {
        "LON": "-46.6529", "LAT": "-23.5531", "NUMBER": "900", "STREET": "RUA AUGUSTA", "CITY": "São Paulo",
        "DISTRICT": "Consolação", "REGION": "SP", "POSTCODE": "01304-001",
    }  # fmt: skip  # a row
    return "\n".join([",".join(columns), *(",".join((row | each).get(name, "") for name in columns) for each in rows)])


@pytest.fixture
def run(tmp_path, capsys):
    """Calls the command, with a file that has these contents; returns its answer and what it said meanwhile."""

    def run(*arguments, content=None, name="addresses.csv"):
        if content is not None:
            path = tmp_path / name
            path.write_bytes(content.encode() if isinstance(content, str) else content)
            arguments = ("import", str(path), *arguments)
        out, told = io.StringIO(), io.StringIO()
        try:
            call_command("addresses", *arguments, stdout=out, stderr=told)
        except SystemExit as ended:
            assert ended.code == 1  # noqa: PT017  # the answer says why
        return json.loads(out.getvalue()), told.getvalue()

    return run


@pytest.mark.django_db(transaction=True)
def test_a_city_that_is_being_imported_is_imported_after_that():
    """Otherwise the streets of both files stay."""
    city = Municipality("SP", "São Paulo")
    address = Address(city, "Rua Augusta", 900, "Consolação", "01304001", -23.5531, -46.6529)

    def fill():
        address_imports.fill([address], form=Form.CNEFE, at=timezone.now())

    fill()
    overlap(fill, fill)

    assert AddressStreet.objects.count() == 1


class TestAFileOfIBGE:
    def test_is_imported(self, run):
        answer, told = run(content=cnefe({}, {"NUM_ENDERECO": "902"}, CURITIBA))

        assert answer == {
            "form": "cnefe", "lines": 3, "imported": 3, "refused": 0, "withoutPlace": 0, "problems": [],
            "cities": [
                {"city": "São Paulo/SP", "addresses": 2, "streets": 1},
                {"city": "Curitiba/PR", "addresses": 1, "streets": 1},
            ],
        }  # fmt: skip  # an answer
        assert "São Paulo/SP: 2 addresses, 1 streets" in told
        assert address_table.find(ADDRESS) == PLACE
        assert address_table.street_of("01304001") == StreetOfPostcode("RUA AUGUSTA", "CONSOLAÇÃO", "São Paulo", "SP")

    @pytest.mark.parametrize(
        ("content", "name"),
        [
            (cnefe({}).encode("latin-1"), "a.csv"),
            (cnefe({}).encode("utf-8-sig"), "a.csv"),
            (cnefe({}).replace("\n", "\r\n").encode(), "a.csv"),
            (cnefe({"NOM_SEGLOGR": '"AUGUSTA"', "DSC_ESTABELECIMENTO": '"BAR ""DO"" ZÉ; PADARIA"'}).encode(), "a.csv"),
            (cnefe({"NOM_SEGLOGR": '"AUGUSTA"\r'}).encode(), "a.csv"),
            (cnefe({}).replace("-23.5531", "-23,5531").encode(), "a.csv"),
            (gzip.compress(cnefe({}).encode()), "a.csv.gz"),
        ],
        ids=["Latin-1", "BOM", "CRLF", "quoted", "CR", "decimal comma", "gzip"],
    )
    def test_is_read_as_it_is_written(self, run, content, name):
        answer, _told = run(content=content, name=name)

        assert (answer["imported"], answer["problems"]) == (1, [])
        assert address_table.find(ADDRESS) == PLACE
        assert AddressStreet.objects.get().district == "CONSOLAÇÃO"

    def test_may_be_zipped(self, run, tmp_path):
        with ZipFile(tmp_path / "35_SP.zip", "w", ZIP_DEFLATED) as archive:
            archive.writestr("35_SP.csv", cnefe({}))

        answer, _told = run("import", str(tmp_path / "35_SP.zip"))

        assert answer["imported"] == 1

    @pytest.mark.parametrize(
        ("row", "problem"),
        [
            ({"LATITUDE": "-23.55x"}, "The coordinates are no numbers: -23.55x, -46.652900"),
            ({"LATITUDE": ""}, "The coordinates are no numbers: , -46.652900"),
            ({"LATITUDE": "nan"}, "The coordinates are not in SP: nan, -46.652900"),
            ({"LATITUDE": "-3.1", "LONGITUDE": "-60.0"}, "The coordinates are not in SP: -3.1, -60.0"),
            ({"COD_MUNICIPIO": "9999999"}, "COD_MUNICIPIO is of no municipality: 9999999"),
            ({"NUM_ENDERECO": "9O0"}, "NUM_ENDERECO is no number: 9O0"),
            ({"NUM_ENDERECO": "1234567"}, "No house has this number: 1234567"),
            ({"NOM_SEGLOGR": "A;B"}, "The line has 35 cells, the header 34."),
            ({"DSC_ESTABELECIMENTO": "x" * 70_000}, "The line has more than 65536 bytes."),
            ({"NOM_SEGLOGR": "AUG\0USTA"}, "The line has a character that cannot be stored."),
        ],
    )
    def test_names_a_bad_line_and_imports_the_others(self, run, row, problem):
        answer, _told = run(content=cnefe({}, row, {"NUM_ENDERECO": "902"}))

        assert answer["problems"] == [{"line": 3, "problem": problem}]
        assert (answer["lines"], answer["imported"], answer["refused"]) == (3, 2, 1)

    def test_names_twenty_bad_lines_at_most(self, run):
        answer, _told = run(content=cnefe(*[{"LATITUDE": "?"}] * 30))

        assert (len(answer["problems"]), answer["refused"]) == (20, 30)
        assert answer["cities"] == []

    @pytest.mark.parametrize("level", ["5", "6"])
    def test_has_addresses_with_the_place_of_a_larger_area_which_are_left_out(self, run, level):
        answer, _told = run(content=cnefe({"NV_GEO_COORD": level}))

        assert (answer["imported"], answer["withoutPlace"]) == (0, 1)

    def test_has_places_of_a_side_of_a_block(self, run):
        run(content=cnefe({"NV_GEO_COORD": "4"}))

        assert address_table.find(ADDRESS) == Located(PLACE.point, Precision.STREET)

    def test_has_the_place_in_the_middle_for_a_number_with_several(self, run):
        run(content=cnefe(*({"LATITUDE": each} for each in ("-23.9", "-23.5531", "-23.5530"))))

        assert address_table.find(ADDRESS) == PLACE

    @pytest.mark.parametrize(
        "row",
        [
            {"NOM_SEGLOGR": "RAPOSO TAVARES KM 22"}, {"DSC_MODIFICADOR": "KM 22"},
            {"NOM_COMP_ELEM1": "KM", "VAL_COMP_ELEM1": "22"},
        ],
    )  # fmt: skip  # a list
    def test_has_kilometres(self, run, row):
        road = {"NOM_TIPO_SEGLOGR": "RODOVIA", "NOM_SEGLOGR": "RAPOSO TAVARES", "NUM_ENDERECO": "0"}
        run(content=cnefe({**road, **row}))

        assert address_table.find({**ADDRESS, "street": "Rod. Raposo Tavares", "number": "km 22"}) == PLACE


class TestAFileOfOpenAddresses:
    @pytest.mark.parametrize("number", ["900", "900-902", "900 A"])
    def test_is_imported(self, run, number):
        answer, _told = run(content=openaddresses({"NUMBER": number}))

        assert (answer["form"], answer["cities"][0]["city"]) == ("openaddresses", "São Paulo/SP")
        assert address_table.find(ADDRESS) == PLACE

    def test_may_be_geojson(self, run):
        properties = {
            "hash": "1", "number": "900", "street": "R. AUGUSTA", "unit": "", "city": "SAO PAULO", "district": None,
            "region": "SP", "postcode": "01304001", "id": "",
        }  # fmt: skip  # a feature
        feature = {"type": "Feature", "properties": properties}
        point = {"geometry": {"type": "Point", "coordinates": [-46.6529, -23.5531]}}
        lines = [json.dumps({**feature, **point}), json.dumps({**feature, "geometry": None}), "[" * 60_000]

        answer, _told = run(content="\n".join(lines), name="a.geojson")

        problem = "The line is no GeoJSON feature with a point."
        assert answer["problems"] == [{"line": line, "problem": problem} for line in (2, 3)]
        assert address_table.find(ADDRESS) == PLACE

    @pytest.mark.parametrize("column", ["street", "city"])
    @pytest.mark.parametrize("sign", ["\0", "\ud800"], ids=["NUL", "half of a pair"])
    def test_of_geojson_names_a_line_that_cannot_be_stored(self, run, column, sign):
        properties = {"number": "900", "street": "R. AUGUSTA", "city": "SAO PAULO", "region": "SP"}
        point = {"type": "Point", "coordinates": [-46.6529, -23.5531]}
        wrong = {**properties, column: f"A{sign}B"}
        lines = [json.dumps({"properties": each, "geometry": point}) for each in (wrong, properties)]

        answer, _told = run(content="\n".join(lines), name="a.geojson")

        assert answer["problems"] == [{"line": 1, "problem": "The line has a character that cannot be stored."}]
        assert address_table.find(ADDRESS) == PLACE

    def test_without_cities_needs_the_city(self, run):
        content = openaddresses({"CITY": "", "REGION": "", "POSTCODE": ""})

        refused, _told = run(content=content)
        answer, _told = run("--state", "SP", "--city", "sao paulo", content=content)

        assert refused["problems"] == [
            {"line": 2, "problem": "The row names no city. Name it with --state and --city."}
        ]
        assert answer["cities"][0]["city"] == "São Paulo/SP"

    @pytest.mark.parametrize(
        ("row", "problem"),
        [
            ({"CITY": "Sao Palo"}, "Sao Palo is no city of SP."),
            ({"REGION": "", "POSTCODE": ""}, "The row names no state. Name it with --state."),
        ],
    )
    def test_names_rows_of_no_city(self, run, row, problem):
        answer, _told = run(content=openaddresses(row))

        assert answer["problems"] == [{"line": 2, "problem": problem}]


class TestAFileThatIsNone:
    @pytest.mark.parametrize(
        ("content", "arguments", "detail"),
        [
            ("a;b\n1;2\n", (), "are those of no form that is known"),
            ("", (), "are those of no form that is known"),
            (HEADER.replace("LATITUDE", "LAT"), (), "has no column LATITUDE"),
            (openaddresses({}), ("--form", "cnefe"), "has no column COD_MUNICIPIO, CEP"),
            ('{"type": "Feature"}', ("--form", "cnefe"), "is no header of form cnefe"),
            (b"PK\x03\x04" + bytes(40), (), "are those of no form that is known"),
            (gzip.compress(cnefe({}).encode())[:-20], (), "cannot be read"),
        ],
    )
    def test_changes_nothing(self, run, content, arguments, detail):
        run(content=cnefe({}))

        answer, _told = run(*arguments, content=content)

        assert answer["error"] == "wrong_address_file"
        assert detail in answer["detail"]
        assert address_table.find(ADDRESS) == PLACE

    def test_is_not_there(self, run):
        answer, _told = run("import", "/nowhere.csv")

        assert "cannot be read" in answer["detail"]

    @pytest.mark.parametrize("names", [[], ["a.csv", "b.csv"], ["a.txt"]])
    def test_is_a_zip_without_exactly_one(self, run, tmp_path, names):
        with ZipFile(tmp_path / "a.zip", "w") as archive:
            for name in names:
                archive.writestr(name, cnefe({}))

        answer, _told = run("import", str(tmp_path / "a.zip"))

        assert "files of addresses, not one" in answer["detail"]

    def test_is_a_zip_that_is_much_larger_unpacked(self, run, tmp_path):
        with ZipFile(tmp_path / "a.zip", "w", ZIP_DEFLATED) as archive:
            archive.writestr("a.csv", HEADER + "\n" * 20_000_000)

        answer, _told = run("import", str(tmp_path / "a.zip"))

        assert "is too large" in answer["detail"]

    def test_ends_too_soon_in_a_packed_file(self, run):
        """The first pass reads all of it, so no city is written of what came before."""
        rows = cnefe(*({"NUM_ENDERECO": str(number)} for number in range(1, 5_000)))

        answer, _told = run(content=gzip.compress(rows.encode())[:-200], name="a.csv.gz")

        assert answer["error"] == "wrong_address_file"
        assert not AddressCity.objects.exists()


class TestTheImport:
    def test_replaces_the_city_and_keeps_others(self, run):
        run(content=cnefe({}, CURITIBA))

        run(content=cnefe({"NUM_ENDERECO": "5"}))

        assert AddressStreet.objects.count() == AddressCity.objects.count() == 2
        assert isinstance(address_table.find({**ADDRESS, "number": "900"}), list)
        assert address_table.find({**ADDRESS, "number": "5"}) == PLACE
        assert isinstance(address_table.find({**ADDRESS, "city": "Curitiba", "state": "PR"}), Located)

    def test_keeps_the_city_of_other_files(self, run):
        run(content=cnefe({}))

        run(content=openaddresses({"NUMBER": "5"}))

        assert address_table.find(ADDRESS) == PLACE
        assert address_table.find({**ADDRESS, "number": "5"}) == PLACE

    @pytest.mark.parametrize(
        ("arguments", "cities"),
        [(["--state", "PR"], ["Curitiba/PR"]), (["--state", "SP", "--city", "SAO PAULO"], ["São Paulo/SP"])],
    )
    def test_may_be_of_a_part_of_the_file(self, run, arguments, cities):
        answer, _told = run(*arguments, content=cnefe({}, CURITIBA, {}))

        assert [each["city"] for each in answer["cities"]] == cities

    def test_of_a_street_whose_houses_were_not_held_at_once_is_whole(self, run, monkeypatch):
        held = []
        store = address_imports._Streets._store
        monkeypatch.setattr(address_imports, "_MOST_HELD", 1_000)

        def count_and_store(streets):
            held.append(len(streets._held))
            store(streets)

        monkeypatch.setattr(address_imports._Streets, "_store", count_and_store)
        others = [{"NOM_SEGLOGR": f"RUA {number}"} for number in range(5)]

        answer, _told = run(content=cnefe({}, CURITIBA, *others, {"NUM_ENDERECO": "902"}))

        assert held == [2, 2, 2, 2, 0]
        assert [(each["addresses"], each["streets"]) for each in answer["cities"]] == [(7, 6), (1, 1)]
        assert AddressStreet.objects.count() == 7
        assert address_table.find(ADDRESS) == PLACE
        assert address_table.find({**ADDRESS, "number": "902"}) == PLACE

    def test_is_whole_or_not_at_all(self, run, monkeypatch):
        run(content=cnefe({}))
        monkeypatch.setattr(address_imports, "_row", None)

        with pytest.raises(TypeError):
            run(content=cnefe({"NUM_ENDERECO": "5"}))

        assert address_table.find(ADDRESS) == PLACE

    def test_tells_its_progress(self, run, monkeypatch):
        monkeypatch.setattr(address_imports, "_TOLD_AFTER", 2)

        _answer, told = run(content=cnefe({}, {"LATITUDE": "?"}, {}, {}))

        assert "3 lines read, 1 refused" in told


class TestTheTable:
    def test_is_listed_and_cleared(self, run):
        run(content=cnefe({}, CURITIBA))

        listed, _told = run("list")
        one, _told = run("clear", "--state", "pr", "--city", "curitiba")
        left, _told = run("list")
        all_, _told = run("clear")

        assert [(each["city"], each["state"], each["addresses"]) for each in listed["cities"]] == [
            ("Curitiba", "PR", 1), ("São Paulo", "SP", 1),
        ]  # fmt: skip  # a table
        assert (one, all_) == ({"deleted": {"cities": 1, "streets": 1}},) * 2
        assert [each["city"] for each in left["cities"]] == ["São Paulo"]
        assert run("list")[0] == {"cities": []}

    def test_of_an_unknown_state_is_refused(self, run):
        with pytest.raises(CommandError, match="No state is called XX"):
            run("clear", "--state", "XX")


class TestAnExtractOfOpenStreetMap:
    @pytest.fixture
    def extract(self, tmp_path):
        path = tmp_path / "sp.osm.pbf"
        tags = {
            "addr:housenumber": "900", "addr:street": "Rua Augusta", "addr:city": "São Paulo",
            "addr:suburb": "Consolação", "addr:postcode": "01304-001",
        }  # fmt: skip  # tags
        number = "addr:housenumber"
        with osmium.SimpleWriter(str(path)) as file:
            places = [(-46.6529, -23.5531), (-46.6531, -23.5533), (-46.0, -23.0)]
            for key, place, of_node in zip((1, 2, 3), places, [tags, {}, tags | {"addr:city": "Xis"}], strict=True):
                file.add_node(osmium.osm.mutable.Node(id=key, location=place, tags=of_node))
            file.add_way(osmium.osm.mutable.Way(id=7, nodes=[2, 1, 2], tags=tags | {number: "920"}))
            file.add_way(osmium.osm.mutable.Way(id=8, nodes=[99, 1], tags=tags | {number: "940"}))
        return path

    def test_is_imported(self, run, extract):
        answer, _told = run("import", str(extract))

        assert (answer["form"], answer["imported"], answer["refused"]) == ("osm", 2, 2)
        assert answer["problems"] == [
            {"node": 3, "problem": "Xis is no city of SP."},
            {"way": 8, "problem": "The coordinates are not in SP: 0.0, 0.0"},
        ]
        assert address_table.find(ADDRESS) == PLACE
        of_way = Located(Point(-23.5533, -46.6531), Precision.ROOFTOP)
        assert address_table.find({**ADDRESS, "number": "920"}) == of_way

    def test_that_is_none_is_refused(self, run):

        answer, _told = run(content=b"x" * 100, name="a.osm.pbf")

        assert answer["error"] == "wrong_address_file"

    def test_needs_osmium(self, run, monkeypatch):
        monkeypatch.setitem(sys.modules, "osmium", None)

        answer, _told = run(content=b"x", name="a.osm.pbf")

        assert "install requirements-osm.lock" in answer["detail"]
