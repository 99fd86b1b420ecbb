// Decodes vector tiles (Mapbox Vector Tile 2.1, which is protocol buffers). Throws RangeError for a damaged tile.
"use strict";

window.rota = window.rota || {};

{
  const POINT = 1, LINE = 2, POLYGON = 3;
  const text = new TextDecoder();

  class Reader {
    constructor(bytes, start = 0, end = bytes.length) {
      Object.assign(this, { bytes, at: start, end, view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength) });
    }

    get more() { return this.at < this.end; }

    varint() { // exact up to 2^53
      for (let result = 0, factor = 1; factor < 2 ** 64; factor *= 128) {
        if (!this.more) break;
        const byte = this.bytes[this.at++];
        result += (byte & 127) * factor;
        if (byte < 128) return result;
      }
      throw new RangeError("varint");
    }

    // The number of the next field; `kind` is its wire type.
    field() {
      const key = this.varint();
      this.kind = key & 7;
      return Math.floor(key / 8);
    }

    part() {
      const length = this.varint();
      if (this.at + length > this.end) throw new RangeError("length");
      this.at += length;
      return new Reader(this.bytes, this.at - length, this.at);
    }

    string() { const part = this.part(); return text.decode(part.bytes.subarray(part.at, part.end)); }

    numbers() {
      const part = this.part();
      const all = [];
      while (part.more) all.push(part.varint());
      return all;
    }

    skip() {
      if (this.kind === 0) this.varint();
      else if (this.kind === 1) this.at += 8;
      else if (this.kind === 2) this.part();
      else if (this.kind === 5) this.at += 4;
      else throw new RangeError("wire type");
    }
  }

  const signed = (number) => (number % 2 ? -(number + 1) / 2 : number / 2);

  function value(reader) {
    let found = null;
    while (reader.more) {
      const field = reader.field();
      if (field === 1) found = reader.string();
      else if (field === 2 && reader.kind === 5) { found = reader.view.getFloat32(reader.at, true); reader.at += 4; }
      else if (field === 3 && reader.kind === 1) { found = reader.view.getFloat64(reader.at, true); reader.at += 8; }
      else if (field === 4 || field === 5) found = reader.varint();
      else if (field === 6) found = signed(reader.varint());
      else if (field === 7) found = reader.varint() === 1;
      else reader.skip();
    }
    return found;
  }

  // Lines of [x, y, x, y, …], rings of polygons among them; a point is one of its own.
  function geometry(commands) {
    const lines = [];
    let line = null, x = 0, y = 0;
    for (let at = 0; at < commands.length;) {
      const command = commands[at] & 7;
      const count = commands[at++] >>> 3;
      if (command === 7) { if (line) line.push(line[0], line[1]); continue; }
      if (command !== 1 && command !== 2) throw new RangeError("command");
      if (at + 2 * count > commands.length) throw new RangeError("geometry");
      for (let number = 0; number < count; number++) {
        x += signed(commands[at++]);
        y += signed(commands[at++]);
        if (command === 1 || !line) lines.push(line = []);
        line.push(x, y);
      }
    }
    return lines;
  }

  function feature(reader) {
    const found = { tags: [], type: 0, commands: [] };
    while (reader.more) {
      const field = reader.field();
      if (field === 2) found.tags = reader.numbers();
      else if (field === 3) found.type = reader.varint();
      else if (field === 4) found.commands = reader.numbers();
      else reader.skip();
    }
    return found;
  }

  function layer(reader) {
    const found = { name: "", extent: 4096, features: [] };
    const features = [], keys = [], values = [];
    while (reader.more) {
      const field = reader.field();
      if (field === 1) found.name = reader.string();
      else if (field === 2) features.push(feature(reader.part()));
      else if (field === 3) keys.push(reader.string());
      else if (field === 4) values.push(value(reader.part()));
      else if (field === 5) found.extent = reader.varint() || 4096;
      else reader.skip();
    }
    for (const { tags, type, commands } of features) {
      const properties = {};
      for (let at = 0; at + 1 < tags.length; at += 2) properties[keys[tags[at]]] = values[tags[at + 1]];
      found.features.push({ type, properties, lines: geometry(commands) });
    }
    return found;
  }

  // The layers of a tile by their names: { extent, features: [{ type, properties, lines }] }.
  rota.vectorTile = (buffer) => {
    const reader = new Reader(new Uint8Array(buffer));
    const layers = {};
    while (reader.more) {
      if (reader.field() !== 3) { reader.skip(); continue; }
      const found = layer(reader.part());
      layers[found.name] = found;
    }
    return layers;
  };
  Object.assign(rota.vectorTile, { POINT, LINE, POLYGON });
}
