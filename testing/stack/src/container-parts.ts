import { randomBytes } from 'node:crypto';
import { chmodSync, chownSync, mkdirSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { startAnvil } from '@quittance/engines/anvil';
import { startBitcoind } from '@quittance/engines/bitcoind';
import { startSurfpool } from '@quittance/engines/surfpool';
import { services } from '@quittance/shared/events';
import { containerEngines } from './container-engines.ts';
import { buildMissingImages, CONTAINER_NAMES, imageOf } from './container-images.ts';
import { engineHostname, removeContainers } from './docker-command.ts';
import { imageCommand } from './image-command.ts';
import { launchNew } from './launch-container.ts';
import type { Parts } from './parts.ts';
import { startServiceProcess } from './service-process.ts';
import { newName, StackContainer } from './stack-container.ts';

/*
 * The parts of a stack as containers, for suites that know nothing of it: every URL, port and file is what it is with
 * processes. So services and chain nodes, whose images are built from this checkout, are on this machine's own network,
 * which takes a Docker engine on this Linux. Loaded only when that is asked for.
 */

/** Whom the Dockerfile lets the images run as. */
const IMAGE_USER = 10_001;
/** Long: a machine that is busy is slow to start containers. */
const READY_WITHIN_MS = 120_000;

export type ContainerParts = {
  parts: Parts;
  /** Deletes every container that was made, whatever became of it, and its volumes. */
  remove(): Promise<void>;
};

/** Throws one line where the network of containers cannot be that of this machine. */
async function assertOwnEngine(): Promise<void> {
  const engine = await engineHostname();
  if (engine === hostname()) return;
  throw new Error(
    `a stack of containers for these suites needs a Docker engine on this machine, ${hostname()}: this one is on ${engine}`,
  );
}

/** @param dir where the chain nodes keep their data, each in a folder of its own; the engine must be able to mount it. */
export async function containerParts(dir: string, say: (line: string) => void): Promise<ContainerParts> {
  await buildMissingImages(['sandbox', ...services], say);
  await assertOwnEngine();
  const named = `${CONTAINER_NAMES}${randomBytes(4).toString('hex')}-`;

  const node = (what: string, folder?: string) => ({
    readyWithinMs: READY_WITHIN_MS,
    launch: launchNew((command) => {
      const { entrypoint, args } = imageCommand(command);
      const container = new StackContainer(imageOf('sandbox'), newName(`${named}${what}`))
        .withNetworkMode('host')
        .withEntrypoint(entrypoint)
        .withCommand(args)
        .withEnvironment(command.env ?? {})
        .withTmpFs({ '/tmp': '' })
        .hardened();
      if (folder === undefined) return container;
      const user = nodeUser();
      return container
        .withUser(`${user.uid}:${user.gid}`)
        .withBindMounts([{ source: folder, target: folder, mode: 'rw' }]);
    }),
  });

  const parts: Parts = {
    ...containerEngines(named),
    async ethereum(options) {
      const folder = nodeFolder(join(dir, 'ethereum'));
      return await startAnvil({
        ...options,
        statePath: join(folder, 'state.json'),
        ...node('ethereum', folder),
      });
    },
    async bitcoin(options) {
      const folder = nodeFolder(join(dir, 'bitcoin'));
      return await startBitcoind({ ...options, dataDir: folder, ...node('bitcoin', folder) });
    },
    solana: (options) => startSurfpool({ ...options, ...node('solana') }),
    service: (options) =>
      startServiceProcess({
        ...options,
        readyWithinMs: READY_WITHIN_MS,
        launch: launchNew(({ env = {} }) =>
          new StackContainer(imageOf(options.service), newName(`${named}${options.service}`))
            .withNetworkMode('host')
            .withEnvironment(env)
            .withBindMounts((options.reads ?? []).map(readable))
            .hardened(),
        ),
      }),
  };
  return { parts, remove: () => removeContainers(named) };
}

/** Its folder is its owner's alone, and so is a new file where the umask is strict: the image's user only sees the file. */
function readable(file: string): { source: string; target: string; mode: 'ro' } {
  chmodSync(file, 0o644);
  return { source: file, target: file, mode: 'ro' };
}

/** Nobody runs a node as root: for root it is the image's user, whose the folder is then. */
function nodeUser(): { uid: number; gid: number } {
  const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0];
  return uid === 0 ? { uid: IMAGE_USER, gid: IMAGE_USER } : { uid, gid };
}

function nodeFolder(folder: string): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { uid, gid } = nodeUser();
  chownSync(folder, uid, gid);
  return folder;
}
