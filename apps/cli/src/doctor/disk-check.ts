import { stat, statfs } from 'node:fs/promises';
import { bad, type Finding, ok, why } from './finding.ts';

export type Room = { device: number; freeBytes: number; totalBytes: number };
/** What a folder's disk has. A test has its own. */
export type RoomOf = (folder: string) => Promise<Room>;

export const roomOf: RoomOf = async (folder) => {
  const { bavail, blocks, bsize } = await statfs(folder);
  const { dev: device } = await stat(folder);
  return { device, freeBytes: bavail * bsize, totalBytes: blocks * bsize };
};

const GIB = 1024 ** 3;
const LITTLE = { share: 0.15, bytes: 10 * GIB };
const TOO_LITTLE = { share: 0.05, bytes: 2 * GIB };
const REMEDY =
  'Make room or a larger disk. A full one stops Postgres, and with it everything; nothing is lost.';

/** The disks of this machine. With Docker Compose it is the one that the engines write to. */
export async function checkDisks(folders: readonly string[], room: RoomOf): Promise<Finding[]> {
  const seen = new Set<number>();
  const found: Finding[] = [];
  for (const folder of folders) {
    try {
      const { device, freeBytes, totalBytes } = await room(folder);
      if (seen.has(device)) continue;
      seen.add(device);
      found.push(roomFinding(folder, freeBytes, totalBytes));
    } catch (error) {
      found.push(bad('unknown', 'disk', folder, why(error), 'Name a folder that exists.'));
    }
  }
  return found;
}

function roomFinding(folder: string, freeBytes: number, totalBytes: number): Finding {
  const text = `${(freeBytes / GIB).toFixed(1)} of ${(totalBytes / GIB).toFixed(1)} GiB are free`;
  const isBelow = (limit: typeof LITTLE) => freeBytes < limit.bytes && freeBytes < limit.share * totalBytes;
  if (isBelow(TOO_LITTLE)) return bad('problem', 'disk', folder, text, REMEDY);
  return isBelow(LITTLE) ? bad('warning', 'disk', folder, text, REMEDY) : ok('disk', folder, text);
}
