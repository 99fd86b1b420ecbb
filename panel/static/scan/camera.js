// Reads codes with the camera: by the browser's own BarcodeDetector, or by a library that is loaded when it is needed.
// The code in the middle of the picture counts: a label has several.
import { text } from "../offline/dom.js";
import { store, update } from "./store.js";

const FORMATS = ["code_128", "code_39"];
// Milliseconds.
const PAUSE = 60;
const GONE = 1_500; // a code that was not seen for so long may be read again
const BAND = 0.3; // of the picture's height
const WIDEST = 1_280; // pixels that the library looks at

let stream = null;
let running = 0;

async function own() {
  if (!("BarcodeDetector" in window)) return null;
  const known = await BarcodeDetector.getSupportedFormats();
  if (!known.includes(FORMATS[0])) return null;
  const detector = new BarcodeDetector({ formats: FORMATS.filter((each) => known.includes(each)) });
  return async (video) => {
    const middle = video.videoHeight / 2;
    const distance = ({ boundingBox: { top, bottom } }) => Math.abs((top + bottom) / 2 - middle);
    const [nearest] = (await detector.detect(video)).sort((one, other) => distance(one) - distance(other));
    return nearest?.rawValue ?? "";
  };
}

const loaded = (address) => new Promise((resolve, reject) => {
  const script = document.createElement("script");
  script.src = address;
  script.onload = resolve;
  script.onerror = () => {
    script.remove();
    reject(new DOMException(address, "NetworkError"));
  };
  document.head.append(script);
});

async function ofLibrary() {
  if (!window.ZXing) await loaded(document.body.dataset.library);
  const { ZXing } = window;
  const hints = new Map([
    [ZXing.DecodeHintType.POSSIBLE_FORMATS, [ZXing.BarcodeFormat.CODE_128, ZXing.BarcodeFormat.CODE_39]],
    [ZXing.DecodeHintType.TRY_HARDER, true],
  ]);
  const reader = new ZXing.MultiFormatOneDReader(hints);
  const canvas = document.createElement("canvas");
  const context = canvas.getContext("2d", { willReadFrequently: true });
  return async (video) => {
    const { videoWidth: width, videoHeight: height } = video;
    const scale = Math.min(1, WIDEST / width);
    const band = height * BAND;
    canvas.width = width * scale;
    canvas.height = band * scale;
    context.drawImage(video, 0, (height - band) / 2, width, band, 0, 0, canvas.width, canvas.height);
    try {
      const picture = new ZXing.HybridBinarizer(new ZXing.HTMLCanvasElementLuminanceSource(canvas));
      return reader.decode(new ZXing.BinaryBitmap(picture), hints).getText();
    } catch (error) {
      if (error instanceof ZXing.Exception) return ""; // no code, or one that was not read whole
      throw error;
    }
  };
}

const pause = (time) => new Promise((resolve) => { setTimeout(resolve, time); });

/** Read until the camera is switched off. A code counts when it was read twice in a row, and once while it is there. */
async function read(video, detect, found, turn) {
  let before = "";
  let taken = "";
  let seen = 0;
  while (turn === running) {
    const code = video.readyState >= HTMLMediaElement.HAVE_CURRENT_DATA ? await detect(video) : "";
    if (code && code === taken) seen = performance.now();
    else if (performance.now() - seen > GONE) taken = "";
    if (code && code === before && code !== taken && turn === running) {
      taken = code;
      seen = performance.now();
      found(code);
    }
    before = code;
    await pause(PAUSE);
  }
}

export function stopCamera() {
  running += 1;
  for (const track of stream?.getTracks() ?? []) track.stop();
  stream = null;
  document.getElementById("video").srcObject = null;
  update({ camera: "", hasLight: false });
}

/** The picture would stand still: another program has taken the camera, or it was unplugged. */
function lose(turn) {
  if (turn !== running) return;
  stopCamera();
  update({ problem: text("error.camera_stopped") });
}

/** Show the camera's picture, and call `found` with each code. Rejects with a DOMException where there is none. */
export async function startCamera(found) {
  const video = document.getElementById("video");
  running += 1;
  const turn = running;
  update({ camera: "starting" });
  try {
    if (!navigator.mediaDevices) throw new DOMException("not over TLS", "NotFoundError");
    const opened = await navigator.mediaDevices.getUserMedia({
      video: { facingMode: "environment", width: { ideal: 1920 }, height: { ideal: 1080 } },
    });
    if (turn !== running) {
      for (const track of opened.getTracks()) track.stop();
      return;
    }
    stream = opened;
    stream.getVideoTracks()[0].addEventListener("ended", () => lose(turn)); // not when the page stops it
    const detect = (await own()) ?? (await ofLibrary());
    if (turn !== running) return;
    video.srcObject = stream;
    await video.play();
    if (turn !== running) return;
    update({ camera: "on", hasLight: Boolean(stream.getVideoTracks()[0].getCapabilities?.().torch) });
    read(video, detect, found, turn).catch((error) => {
      lose(turn);
      if (!(error instanceof DOMException)) throw error;
    });
  } catch (error) {
    if (turn === running) stopCamera();
    throw error;
  }
}

export async function switchLight() {
  const [track] = stream?.getVideoTracks() ?? [];
  await track?.applyConstraints({ advanced: [{ torch: !track.getSettings().torch }] });
}

document.addEventListener("visibilitychange", () => {
  if (document.hidden && store.camera) stopCamera();
});
