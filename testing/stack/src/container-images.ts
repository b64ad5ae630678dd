import { fileURLToPath } from 'node:url';
import { getContainerRuntimeClient, ImageName } from 'testcontainers';
import { shell } from './shell.ts';

/*
 * The images that a stack of containers is made of. Their names are settings; those of Quittance are built from this
 * checkout when they are not there.
 */

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const BUILD_WITHIN_MS = 20 * 60_000;
const BUILDS_AT_ONCE = 2;
const SAID_LINES_KEPT = 20;

/** The images there are, as the Dockerfile's SERVICE names them. */
// biome-ignore format: one line
export const imageNames = ['cli', 'sandbox', 'gateway', 'invoices', 'payouts', 'ledger', 'webhooks', 'signer', 'auditor'] as const;
export type QuittanceImage = (typeof imageNames)[number];

/** What the names of containers begin with that the suites start, so that what a run has left can be found. */
export const CONTAINER_NAMES = 'quittance-test-';

export const postgresImage = (): string => setting('QUITTANCE_POSTGRES_IMAGE', 'postgres:18');
export const natsImage = (): string => setting('QUITTANCE_NATS_IMAGE', 'nats:2.12');
export const redisImage = (): string => setting('QUITTANCE_REDIS_IMAGE', 'redis:8');
export const imagePrefix = (): string => setting('QUITTANCE_IMAGE_PREFIX', 'quittance');
export const imageTag = (): string => setting('QUITTANCE_IMAGE_TAG', 'latest');
/** As docker-compose.yml names them, and so the ones that `docker compose build` has made. */
export const imageOf = (name: QuittanceImage): string => `${imagePrefix()}/${name}:${imageTag()}`;

function setting(name: string, usual: string): string {
  return process.env[name] || usual;
}

/** Throws one line when no Docker engine answers. */
async function dockerEngine() {
  try {
    return await getContainerRuntimeClient();
  } catch (cause) {
    throw new Error(
      "engines: 'containers' needs a Docker engine, and none answers here: start one, name it in DOCKER_HOST, or take engines: 'embedded'",
      { cause },
    );
  }
}

/**
 * Builds those images of Quittance that are not there; what is there is taken as it is.
 * @throws Error with one line when no Docker engine answers
 */
export async function buildMissingImages(
  wanted: readonly QuittanceImage[],
  say: (line: string) => void,
): Promise<void> {
  const { image } = await dockerEngine();
  const there = await Promise.all(wanted.map((name) => image.exists(ImageName.fromString(imageOf(name)))));
  const missing = wanted.filter((_, i) => !there[i]);
  if (missing.length === 0) return;
  say(`building ${missing.map(imageOf).join(', ')}; the first one takes minutes`);
  // What they share is built once. Each takes the next: one writes to the disk while another compiles.
  const queue = missing.values();
  const builder = async () => {
    for (const service of queue) await build(service, imageOf(service));
  };
  await Promise.all(Array.from({ length: BUILDS_AT_ONCE }, builder));
}

/** By Docker's own client, which says what went wrong when something does. */
async function build(service: QuittanceImage, name: string): Promise<void> {
  const more = setting('QUITTANCE_BUILD_OPTIONS', '')
    .split(/\s+/)
    .filter((word) => word !== '');
  const order = ['build', '--build-arg', `SERVICE=${service}`, '--tag', name, ...more, ROOT];
  const { code, stdout, stderr } = await shell('docker', order, { limitMs: BUILD_WITHIN_MS });
  if (code === 0) return;
  const last = `${stdout}${stderr}`.trimEnd().split('\n').slice(-SAID_LINES_KEPT).join('\n');
  throw new Error(`${name} is not there and could not be built from ${ROOT}:\n${last}`);
}
