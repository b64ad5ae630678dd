import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { getContainerRuntimeClient, ImageName } from 'testcontainers';
import { engineImage } from './official-images.ts';

/*
 * The images that a stack of containers is made of. Their names are settings; those of Quittance are built from this
 * checkout when they are not there.
 */

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const BUILD_WITHIN_MS = 20 * 60_000;
const SAID_LINES_KEPT = 20;

/** The images there are, as the Dockerfile's SERVICE names them. */
// biome-ignore format: one line
export const imageNames = ['cli', 'sandbox', 'gateway', 'invoices', 'payouts', 'ledger', 'webhooks', 'auditor'] as const;
export type QuittanceImage = (typeof imageNames)[number];

/** What the names of containers begin with that the suites start, so that what a run has left can be found. */
export const CONTAINER_NAMES = 'quittance-test-';

export const postgresImage = (): string => engineImage('QUITTANCE_POSTGRES_IMAGE', 'postgres');
export const natsImage = (): string => engineImage('QUITTANCE_NATS_IMAGE', 'nats');
export const redisImage = (): string => engineImage('QUITTANCE_REDIS_IMAGE', 'redis');
export const imagePrefix = (): string => setting('QUITTANCE_IMAGE_PREFIX', 'quittance');
export const imageTag = (): string => setting('QUITTANCE_IMAGE_TAG', 'latest');
/** As docker-compose.yml names them, and so the ones that `docker compose build` has made. */
export const imageOf = (name: QuittanceImage): string => `${imagePrefix()}/${name}:${imageTag()}`;

function setting(name: string, usual: string): string {
  const text = process.env[name];
  return text === undefined || text === '' ? usual : text;
}

/** Throws one line when no Docker engine answers. */
export async function assertDockerEngine(): Promise<void> {
  try {
    await getContainerRuntimeClient();
  } catch (cause) {
    throw new Error(
      "engines: 'containers' needs a Docker engine, and none answers here: start one, name it in DOCKER_HOST, or take engines: 'embedded'",
      { cause },
    );
  }
}

/** Builds those images of Quittance that are not there; what is there is taken as it is. */
export async function buildMissingImages(
  wanted: readonly QuittanceImage[],
  say: (line: string) => void,
): Promise<void> {
  const { image } = await getContainerRuntimeClient();
  for (const service of wanted) {
    const name = imageOf(service);
    if (await image.exists(ImageName.fromString(name))) continue;
    say(`building ${name}; the first one takes minutes`);
    await build(service, name);
  }
}

/** By Docker's own client, which says what went wrong when something does. */
async function build(service: QuittanceImage, name: string): Promise<void> {
  const more = setting('QUITTANCE_BUILD_OPTIONS', '')
    .split(/\s+/)
    .filter((word) => word !== '');
  const order = ['build', '--build-arg', `SERVICE=${service}`, '--tag', name, ...more, ROOT];
  const child = spawn('docker', order, { stdio: ['ignore', 'pipe', 'pipe'], timeout: BUILD_WITHIN_MS });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (said += String(chunk)));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', (cause) => {
      reject(new Error(`${name} is not there, and there is no docker command to build it with`, { cause }));
    });
    child.once('close', resolve);
  });
  if (code === 0) return;
  const last = said.trimEnd().split('\n').slice(-SAID_LINES_KEPT).join('\n');
  throw new Error(`${name} is not there and could not be built from ${ROOT}:\n${last}`);
}
