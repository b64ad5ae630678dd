import { execFile, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, realpathSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { assertPortsFree, withPort } from './free-port.ts';
import { ENVIRONMENT } from './launch-process.ts';
import { findPlace, type Place, privateFile, privateFolder, removeData } from './postgres-place.ts';
import { type ClusterTemplate, copyTemplate } from './postgres-template.ts';
import { localeFlags, majorOf } from './postgres-version.ts';
import { type Engine, EngineFailed, type EngineOptions, messageOf, startEngine } from './process.ts';

const SUPERUSER = 'postgres';
const PASSWORD_FILE = 'quittance-password';
const ASK_WITHIN_MS = 2_000;
const SHUTDOWN_BEGINS_WITHIN_MS = 1_000;
const SHUTDOWN_WITHIN_MS = 10_000;
// Of postmaster.pid.
const PID_LINE = 0;
const STATUS_LINE = 7;
const INITDB_WITHIN_MS = 60_000;

/** What may be set with -c. The defaults keep what was committed, whatever happens to the process. */
export type PostgresSettings = Readonly<Record<string, string | number | boolean>>;

const SETTINGS: PostgresSettings = {
  listen_addresses: '127.0.0.1',
  // No socket file: nothing in /tmp that two clusters could both want.
  unix_socket_directories: '',
  max_connections: 200,
  fsync: 'on',
  synchronous_commit: 'on',
  timezone: 'UTC',
  log_timezone: 'UTC',
};

export type PostgresOptions = EngineOptions & {
  /** The cluster's folder; made, and filled by initdb, when it is empty or missing. */
  dataDir: string;
  /** 0 picks a free one. */
  port: number;
  /** Begins with an empty cluster, whatever is there. */
  fresh?: boolean | undefined;
  /** Settings over the durable defaults; tests that never restart may say `{ fsync: 'off' }`. */
  settings?: PostgresSettings | undefined;
  /** What a new cluster is a copy of, with that one's password; for those that need not outlast a power cut. */
  template?: ClusterTemplate | undefined;
};

export type PostgresHandle = Engine & {
  /** The superuser's, to the database `postgres`. */
  url: string;
  port: number;
  /** Where the data is: `dataDir`, or as root in a folder nobody else can enter, below /var/lib. */
  dataDir: string;
  /** Stops it and removes the data. */
  destroy(): Promise<void>;
};

/** Starts Postgres on the loopback interface, with a password that is made once and kept with the data. */
export async function startPostgres(options: PostgresOptions): Promise<PostgresHandle> {
  const wantedDir = path.resolve(options.dataDir);
  if (options.fresh) {
    await waitForFormerOwner(findPlace(wantedDir));
    removeData(wantedDir);
  }
  const place = findPlace(wantedDir);
  if (!existsSync(path.join(place.dataDir, 'PG_VERSION'))) await makeCluster(place, options);
  const password = readCluster(place);
  return await withPort(options.port, async (port) => {
    const url = `postgres://${SUPERUSER}:${password}@127.0.0.1:${port}/postgres`;
    const engine = await startEngine({
      ...options,
      name: 'Postgres',
      // A "fast" shutdown: connections are ended, everything is written.
      stopSignal: 'SIGINT',
      command: async () => {
        await waitForFormerOwner(place);
        await assertPortsFree([{ port, what: 'Postgres' }]);
        return {
          file: path.join(place.binDir, 'postgres'),
          args: ['-D', place.dataDir, '-p', String(port), ...flags(options.settings)],
          user: place.user,
        };
      },
      ask: async () => {
        // Copies of one template have one password: it does not say whose Postgres answers.
        const answering = await answerOf(url, 'show data_directory');
        if (answering !== place.dataDir) throw new EngineFailed(`port ${port} is that of ${answering}`);
      },
      // The backends of a postmaster that was killed end by themselves, but not at once.
      passes: (message) => message.includes('pre-existing shared memory block'),
    });
    const destroy = async () => {
      await engine.stop();
      removeData(wantedDir);
    };
    return Object.assign(engine, { url, port, dataDir: place.dataDir, destroy });
  });
}

function flags(settings: PostgresSettings = {}): string[] {
  const all = Object.entries({ ...SETTINGS, ...settings });
  return all.flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

/** Throws while the server does not answer; takes some two seconds at most. */
export async function selectOne(url: string): Promise<void> {
  await answerOf(url, 'select 1');
}

async function answerOf(url: string, sql: string): Promise<unknown> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: ASK_WITHIN_MS,
    query_timeout: ASK_WITHIN_MS,
  });
  // Without a listener a connection that breaks after the answer would be an uncaught exception.
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query<[unknown]>({ text: sql, rowMode: 'array' });
    return rows[0]?.[0];
  } finally {
    await client.end();
  }
}

/** Made beside its place and moved there complete: an initdb that was cut off leaves no half cluster behind. */
async function makeCluster(
  { dataDir, binDir, user }: Place,
  { settings = {}, template }: PostgresOptions,
): Promise<void> {
  if (existsSync(dataDir) && readdirSync(dataDir).length > 0) {
    throw new EngineFailed(`${dataDir} is neither empty nor a Postgres data folder: name another one`);
  }
  const scratch = `${dataDir}.new`;
  const cluster = path.join(scratch, 'cluster');
  rmSync(scratch, { recursive: true, force: true });
  privateFolder(scratch, user);
  const how = howToMake(binDir);
  const start = (folder: string) => startPostgres({ dataDir: folder, port: 0, settings: { fsync: 'off' } });
  const isCopied =
    template !== undefined && (await copyTemplate(template, { to: cluster, how, user }, start));
  if (!isCopied) {
    const [password, passwordFile] = [randomBytes(24).toString('base64url'), path.join(scratch, 'password')];
    privateFolder(cluster, user);
    privateFile(passwordFile, password, user);
    const hasty = settings['fsync'] === 'off' ? ['--no-sync'] : [];
    const paths = ['--pgdata', cluster, '--pwfile', passwordFile];
    await initdb({ binDir, user }, [...how, ...paths, ...hasty]);
    privateFile(path.join(cluster, PASSWORD_FILE), password, user);
  }
  renameSync(cluster, dataDir);
  rmSync(scratch, { recursive: true, force: true });
}

const howToMake = (binDir: string): string[] => [
  ...['--username', SUPERUSER, '--auth', 'scram-sha-256', '--encoding', 'UTF8'],
  ...localeFlags(majorOf(binDir)),
];

async function initdb({ binDir, user }: Pick<Place, 'binDir' | 'user'>, args: string[]): Promise<void> {
  const options = { ...user, cwd: '/', env: ENVIRONMENT, timeout: INITDB_WITHIN_MS };
  try {
    await promisify(execFile)(path.join(binDir, 'initdb'), args, options);
  } catch (cause) {
    const said =
      cause instanceof Error && 'stderr' in cause ? `${cause.message}\n${cause.stderr}` : String(cause);
    throw new EngineFailed(`initdb failed: ${said}`, { cause });
  }
}

/** Checks the cluster's version and returns its superuser's password. */
function readCluster({ dataDir, binDir }: Place): string {
  const read = (name: string) => {
    try {
      return readFileSync(path.join(dataDir, name), 'utf8').trim();
    } catch (cause) {
      throw new EngineFailed(
        `the Postgres data in ${dataDir} cannot be read (${messageOf(cause)}). ` +
          'If another user made it, run as that user, or delete it to begin anew',
        { cause },
      );
    }
  };
  const [version, major] = [read('PG_VERSION'), majorOf(binDir)];
  if (version !== major) {
    throw new EngineFailed(
      `the data in ${dataDir} is Postgres ${version}'s, this is Postgres ${major}: begin anew`,
    );
  }
  return read(PASSWORD_FILE);
}

/**
 * A Postgres whose parent was killed is still shutting down: it is waited for. A pid file that names a process
 * which is not this data's postmaster (a crash, then the number was used again: usual in containers) would stop
 * Postgres for ever: it is removed.
 */
async function waitForFormerOwner(place: Place): Promise<void> {
  const pidFile = path.join(place.dataDir, 'postmaster.pid');
  const started = Date.now();
  while (existsSync(pidFile)) {
    const lines = readFileSync(pidFile, 'utf8').split('\n');
    // eslint-disable-next-line no-restricted-syntax -- a process's id
    const pid = Number(lines[PID_LINE]);
    if (!isPostmasterOf(place, pid)) {
      rmSync(pidFile, { force: true });
      return;
    }
    const stopping = lines[STATUS_LINE]?.trim() === 'stopping';
    if (Date.now() - started > (stopping ? SHUTDOWN_WITHIN_MS : SHUTDOWN_BEGINS_WITHIN_MS)) {
      throw new EngineFailed(
        `the Postgres data in ${place.dataDir} is in use by process ${pid}: stop that first`,
      );
    }
    await sleep(50);
  }
}

/**
 * A postmaster's working directory is its data. It is asked as Postgres' own user: in a container root may not
 * look into another user's process, and a process that this user may not look into is not its own.
 */
function isPostmasterOf(place: Place, pid: number): boolean {
  const dataDir = realpathSync(place.dataDir);
  const [question, ...args] =
    process.platform === 'linux'
      ? ['readlink', `/proc/${pid}/cwd`]
      : ['ps', '-o', 'command=', '-p', `${pid}`];
  const answer = spawnSync(question, args, { ...place.user, cwd: '/', encoding: 'utf8', env: ENVIRONMENT });
  if (answer.error) throw answer.error;
  return process.platform === 'linux'
    ? answer.stdout.trim() === dataDir
    : answer.stdout.includes(`${place.dataDir} `);
}
