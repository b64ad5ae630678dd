import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseEnv } from 'node:util';
import { services } from '@quittance/shared/events';
import { reason } from '@quittance/shared/logger';
import {
  DockerComposeEnvironment,
  getContainerRuntimeClient,
  type StartedDockerComposeEnvironment,
} from 'testcontainers';
import {
  buildMissingImages,
  CONTAINER_NAMES,
  imageOf,
  imagePrefix,
  imageTag,
  natsImage,
  postgresImage,
  type QuittanceImage,
  redisImage,
} from './container-images.ts';
import { removeContainers } from './docker-command.ts';
import type { Settings } from './service-settings.ts';
import { must, type Said, type ShellOptions, shell } from './shell.ts';

/*
 * docker-compose.yml with its sandbox's nodes, under a name of its own, by the compose support of testcontainers. A second
 * file changes what a caller wants changed, and how often services are asked for their health: as seldom as in production,
 * a stack would be healthy ten seconds late.
 */

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
/** Docker starts some processes of its own for each check, and a stack has fourteen containers that are checked. */
const HEALTH = { interval: '5s', retries: 24 };
/** Long: a machine that is busy is slow to start containers. */
const READY_WITHIN_MS = 180_000;
const COMPOSE_WITHIN_MS = 3 * 60_000;
/** A service drains within ten seconds. */
const DRAIN_MS = 12_000;
const COMPLAINTS_KEPT = 12;

export type ComposeOptions = {
  /** Those that are built when they are not there. */
  images: readonly QuittanceImage[];
  /** @returns what is set other than in `made`, an .env of the sandbox with new secrets. */
  settings(made: Settings): Settings;
  /** What is other than in docker-compose.yml, by service, in the words of such a file. */
  changes?: Readonly<Record<string, object>>;
  say(line: string): void;
};

export type Container = {
  id: string;
  service: string;
  state: string;
  /** Empty where there is no health check. */
  health: string;
  exitCode: number;
  /** Nobody can write to its disk. */
  readOnly: boolean;
  /** The largest core dump; undefined where the engine's own limit holds. */
  coreBytesMax: number | undefined;
};

export type ComposeStack = {
  settings: Settings;
  /**
   * Returns when all that is to stay runs, and what has a health check is healthy.
   * @param replicas of each service that is named; what runs stays as it is
   * @param only services that are started with what they depend on; all when not given
   */
  up(how?: { replicas?: Readonly<Record<string, number>>; only?: string[] }): Promise<void>;
  /** Runs a command of compose to its end. */
  compose(...args: string[]): Promise<Said>;
  /** The same, but throws when it failed. @returns what it printed */
  must(...args: string[]): Promise<string>;
  containers(): Promise<Container[]>;
  /** What services have said that was worth a warning, for the reader of a failed test. */
  complaints(): Promise<string>;
  /** Ends everything in order; its data stays. */
  down(): Promise<void>;
  /** Ends everything at once, with its data. */
  remove(): Promise<void>;
};

export async function composeStack(options: ComposeOptions): Promise<ComposeStack> {
  await buildMissingImages(options.images, options.say);
  const made = parseEnv(await must('docker', ['run', '--rm', imageOf('sandbox'), 'env'])) as Settings;
  const settings: Settings = {
    ...made,
    IMAGE_PREFIX: imagePrefix(),
    IMAGE_TAG: imageTag(),
    POSTGRES_IMAGE: postgresImage(),
    NATS_IMAGE: natsImage(),
    REDIS_IMAGE: redisImage(),
    ...options.settings(made),
  };
  const name = `${CONTAINER_NAMES}${randomBytes(4).toString('hex')}`;
  const dir = mkdtempSync(join(tmpdir(), 'quittance-compose-'));
  const files = [join(ROOT, 'docker-compose.yml'), join(dir, 'docker-compose.tests.yml')] as const;
  writeFileSync(files[1], changed(options.changes ?? {}));
  // An empty one in place of the checkout's own .env, which is of what its owner runs.
  const envFile = join(dir, 'env');
  writeFileSync(envFile, '');
  const common = ['--env-file', envFile, '--profile', 'sandbox'];
  const standalone = (await shell('docker', ['compose', 'version'])).code !== 0;
  const [program = '', ...first] = standalone ? ['docker-compose'] : ['docker', 'compose'];
  const command = [...first, ...common, ...files.flatMap((file) => ['--file', file])];
  const how: ShellOptions = {
    cwd: ROOT,
    env: { ...process.env, ...settings, COMPOSE_PROJECT_NAME: name },
    limitMs: COMPOSE_WITHIN_MS,
  };
  let started: StartedDockerComposeEnvironment | undefined;

  const containers = async (): Promise<Container[]> => {
    const { container } = await getContainerRuntimeClient();
    const filters = { label: [`com.docker.compose.project=${name}`] };
    const found = await container.dockerode.listContainers({ all: true, filters });
    return await Promise.all(
      found.map(async ({ Id: id, Labels }) => {
        const { State, HostConfig } = await container.inspect(container.getById(id));
        return {
          id,
          service: Labels['com.docker.compose.service'] ?? '',
          state: State.Status,
          health: State.Health?.Status ?? '',
          exitCode: State.ExitCode,
          readOnly: HostConfig.ReadonlyRootfs ?? false,
          coreBytesMax: HostConfig.Ulimits?.find(({ Name }: { Name?: string | undefined }) => Name === 'core')
            ?.Hard,
        };
      }),
    );
  };
  const complaints = async () => {
    const said = (await containers()).map(async ({ id, service }) => {
      const { stdout } = await shell('docker', ['logs', id]);
      const worth = stdout.split('\n').filter((line) => /"level":"(?:warn|error|fatal)"/.test(line));
      return worth.slice(-COMPLAINTS_KEPT).map((line) => `${service} ${line}`);
    });
    return (await Promise.all(said)).flat().join('\n');
  };
  return {
    settings,
    containers,
    complaints,
    async up({ replicas = {}, only } = {}) {
      const scale = Object.entries(replicas).flatMap(([service, count]) => [
        '--scale',
        `${service}=${count}`,
      ]);
      const environment = new DockerComposeEnvironment(ROOT, [...files])
        .withProjectName(name)
        .withEnvironment(settings)
        .withStartupTimeout(READY_WITHIN_MS)
        .withClientOptions({
          executable: standalone ? { standalone } : { executablePath: program },
          composeOptions: common,
          commandOptions: ['--no-build', '--no-recreate', ...scale],
        });
      try {
        started = await environment.up(only);
      } catch (cause) {
        throw new Error(`${reason(cause)}\n${await complaints()}`, { cause });
      }
    },
    compose: (...args) => shell(program, [...command, ...args], how),
    must: (...args) => must(program, [...command, ...args], how),
    async down() {
      await started?.down({ timeout: DRAIN_MS, removeVolumes: false });
    },
    async remove() {
      await removeContainers(name);
      await must(program, [...command, 'down', '--volumes', '--remove-orphans'], how);
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** The second file: JSON is YAML, and a dollar in it would begin a variable. */
function changed(changes: Readonly<Record<string, object>>): string {
  // The signer listens nowhere, so its health cannot be asked for.
  const healthy = services.map((service) => [
    service,
    { ...(service !== 'signer' && { healthcheck: HEALTH }), ...changes[service] },
  ]);
  const all = { version: '3.8', services: { ...changes, ...Object.fromEntries(healthy) } };
  return JSON.stringify(all).replaceAll('$', '$$$$');
}
