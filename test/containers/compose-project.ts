import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  buildMissingImages,
  CONTAINER_NAMES,
  imageNames,
  imageOf,
  imagePrefix,
  imageTag,
  natsImage,
  postgresImage,
  redisImage,
} from '@quittance/stack/container-images';
import { eventually } from '@quittance/testkit/eventually';
import { must, type Said, shell } from './shell.ts';

const root = join(import.meta.dirname, '../..');
const UP_WITHIN_MS = 3 * 60_000;
const READY_WITHIN_MS = 2 * 60_000;
const COMPLAINTS_KEPT = 12;
/** A service drains within ten. */
const GRACE_SECONDS = '12';
const NETWORK_FREE_WITHIN_MS = 30_000;

/** Those that are to run more than once. */
export const scaled = ['gateway', 'invoices', 'payouts', 'ledger', 'webhooks', 'auditor'] as const;

export type Container = {
  id: string;
  service: string;
  state: string;
  health: string;
  exitCode: number;
  /** Nobody can write to its disk. */
  readOnly: boolean;
};

/** Of what docker inspect says. */
type Inspected = {
  Id: string;
  Config: { Labels: Record<string, string> };
  State: { Status: string; ExitCode: number; Health?: { Status: string } };
  HostConfig: { ReadonlyRootfs: boolean };
};

export type ComposeProject = {
  /** The gateways' URLs, one for each replica that may be. */
  urls: readonly string[];
  compose(...args: string[]): Promise<Said>;
  /** Returns when all that is to stay runs, and what has a health check is healthy. */
  up(): Promise<void>;
  /** With so many replicas of each service; what runs stays as it is. */
  upScaled(replicas: number): Promise<void>;
  /** Ends everything; its data stays. */
  down(): Promise<void>;
  containers(): Promise<Container[]>;
  container(id: string): Promise<Container | undefined>;
  /** Of one service, those that run. */
  running(service: string): Promise<Container[]>;
  /** What services have said that was worth a warning, for the reader of a failed test. */
  complaints(): Promise<string>;
  /** A merchant's token, by the operator's command. */
  openAccount(name: string): Promise<string>;
  /** The faucet's. */
  pay(asset: string, address: string, amount: string): Promise<void>;
  /** Ends everything, with its data. */
  remove(): Promise<void>;
};

/** Some have no health check. */
const isWell = (health: string): boolean => health === '' || health === 'healthy';

/** docker-compose.yml as it stands, with the sandbox's nodes, its images built, under a name and on ports of its own. */
export async function composeProject(firstPort: number): Promise<ComposeProject> {
  await buildMissingImages(imageNames, (line) => process.stdout.write(`${line}\n`));
  const dir = mkdtempSync(join(tmpdir(), 'quittance-compose-'));
  const name = `${CONTAINER_NAMES}${randomBytes(4).toString('hex')}`;
  const ports = [0, 1, 2].map((more) => firstPort + more);
  const settings = await must('docker', ['run', '--rm', imageOf('sandbox'), 'env']);
  const own = {
    IMAGE_PREFIX: imagePrefix(),
    IMAGE_TAG: imageTag(),
    POSTGRES_IMAGE: postgresImage(),
    NATS_IMAGE: natsImage(),
    REDIS_IMAGE: redisImage(),
    GATEWAY_PORT: `127.0.0.1:${ports[0]}-${ports.at(-1)}`,
    RATE_LIMIT_PER_MINUTE: '1000000',
    CONNECTIONS_PER_CLIENT: '100000',
  };
  const lines = Object.entries(own).map(([setting, value]) => `${setting}=${value}`);
  const envFile = join(dir, 'env');
  writeFileSync(envFile, `${settings.trimEnd()}\n${lines.join('\n')}\n`, { mode: 0o600 });

  const [file, first] = await composeCommand();
  const common = [...first, '--project-name', name, '--project-directory', root, '--env-file', envFile];
  const compose = (...args: string[]) =>
    shell(file, [...common, '--file', join(root, 'docker-compose.yml'), '--profile', 'sandbox', ...args], {
      cwd: root,
      limitMs: UP_WITHIN_MS,
    });
  const mustCompose = async (...args: string[]) => {
    const said = await compose(...args);
    if (said.code === 0) return said.stdout;
    throw new Error(`compose ${args.join(' ')} ended with ${said.code}:\n${said.stdout}${said.stderr}`);
  };
  /** Docker may hold an endpoint of the network a moment longer than the container: then the network goes the next time. */
  const takeDown = (...options: string[]) =>
    eventually(
      () => mustCompose('down', ...options, '--timeout', GRACE_SECONDS),
      NETWORK_FREE_WITHIN_MS,
      1_000,
    );
  const containers = async () => {
    const label = `label=com.docker.compose.project=${name}`;
    const ids = (await must('docker', ['ps', '--all', '--quiet', '--filter', label]))
      .split('\n')
      .filter(Boolean);
    if (ids.length === 0) return [];
    // As JSON: one without a health check has nothing that a template could ask for.
    const found: Inspected[] = JSON.parse(await must('docker', ['inspect', ...ids]));
    return found.map(({ Id: id, Config, State, HostConfig }) => ({
      id,
      service: Config.Labels['com.docker.compose.service'] ?? '',
      state: State.Status,
      health: State.Health?.Status ?? '',
      exitCode: State.ExitCode,
      readOnly: HostConfig.ReadonlyRootfs,
    }));
  };
  const operator = (...order: string[]) => mustCompose('run', '--rm', '-T', 'quittance', ...order);
  const up = async (...args: string[]) => {
    await mustCompose('up', '--detach', '--no-build', ...args);
    await eventually(async () => {
      const waiting = (await containers()).filter(
        ({ service, state, health }) => service !== 'migrate' && (state !== 'running' || !isWell(health)),
      );
      const names = waiting.map(({ service, state, health }) => `${service} ${state} ${health}`).join(', ');
      if (waiting.length > 0) throw new Error(`not healthy: ${names}`);
    }, READY_WITHIN_MS);
  };
  return {
    urls: ports.map((port) => `http://127.0.0.1:${port}`),
    compose,
    containers,
    container: async (id) => (await containers()).find((one) => one.id === id),
    running: async (service) =>
      (await containers()).filter((one) => one.service === service && one.state === 'running'),
    up: () => up(),
    upScaled: (replicas) =>
      up('--no-recreate', ...scaled.flatMap((service) => ['--scale', `${service}=${replicas}`])),
    async down() {
      await takeDown();
    },
    async complaints() {
      const lines: string[] = [];
      for (const { id, service } of await containers()) {
        const { stdout } = await shell('docker', ['logs', id]);
        const worth = stdout.split('\n').filter((line) => /"level":"(?:warn|error|fatal)"/.test(line));
        lines.push(...worth.slice(-COMPLAINTS_KEPT).map((line) => `${service} ${line}`));
      }
      return lines.join('\n');
    },
    async openAccount(shop) {
      await operator('account', 'create', shop);
      const { token } = JSON.parse(await operator('token', 'create', shop, '--name', 'server', '--json'));
      return token;
    },
    async pay(asset, address, amount) {
      await mustCompose('exec', '-T', 'chains', 'node', '/app/start.ts', 'pay', asset, address, amount);
    },
    async remove() {
      await takeDown('--volumes', '--remove-orphans');
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** Version 2 where Docker has it, else Debian's docker-compose 1.29. */
async function composeCommand(): Promise<[string, string[]]> {
  const { code } = await shell('docker', ['compose', 'version']);
  return code === 0 ? ['docker', ['compose']] : ['docker-compose', []];
}
