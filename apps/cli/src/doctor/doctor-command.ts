import type { ChainSettings } from '@quittance/chains/settings';
import { type Clock, systemClock } from '@quittance/shared/clock';
import { type Db, openDb } from '@quittance/shared/db';
import { createLogger } from '@quittance/shared/logger';
import { isOlder } from '@quittance/shared/readiness';
import { isInStore } from '../backup/store-address.ts';
import { watchedChains } from '../chain-settings.ts';
import { adminDatabase, operatorDatabase } from '../database-settings.ts';
import { provisionerNats } from '../nats-settings.ts';
import type { SaidOutcome } from '../outcome.ts';
import { say } from '../output.ts';
import { CommandError, type Surroundings } from '../surroundings.ts';
import { table } from '../table.ts';
import { checkArchive } from './archive-check.ts';
import { checkBackups } from './backup-check.ts';
import { checkBus } from './bus-check.ts';
import { type Connection, checkCertificates } from './certificate-checks.ts';
import { checkAssets, checkMigrations, checkServer } from './database-checks.ts';
import { checkDisks, type RoomOf, roomOf } from './disk-check.ts';
import { bad, checkNames, type Finding, ok, type State, why } from './finding.ts';
import { checkNodes } from './node-checks.ts';
import { checkSchemas } from './schema-check.ts';

const NODE_WANTED = [24];
const CONNECT_WITHIN_MS = 5_000;

export type DoctorOptions = { schema?: boolean; backups?: string; backupHours: number };

/** What the doctor does not ask the installation. Tests have their own. */
export type DoctorPorts = { clock: Clock; room: RoomOf };

/** Looks at an installation from here, changes nothing, and says of each thing what it found and what to do. */
export async function doctor(
  around: Surroundings,
  options: DoctorOptions,
  ports: DoctorPorts = { clock: systemClock, room: roomOf },
): Promise<SaidOutcome> {
  const settings = readSettings(around);
  const db = settings.databaseUrl === undefined ? undefined : open(settings.databaseUrl);
  try {
    const found = await (options.schema === true
      ? ofDatabase(db, checkSchemas)
      : look(around, settings, db, options, ports));
    return tell([...settings.findings, ...found]);
  } finally {
    await db?.close();
  }
}

const open = (url: string): Db =>
  openDb({
    url,
    // Every other name is written with its schema.
    schema: 'pg_catalog',
    pool: 1,
    logger: createLogger('doctor', 'silent'),
    connectWithinMs: CONNECT_WITHIN_MS,
  });

type Settings = {
  findings: Finding[];
  databaseUrl?: string;
  busUrl?: string;
  chains: ChainSettings[];
};

/** The settings of this command, with each problem that they have. */
function readSettings(around: Surroundings): Settings {
  const findings: Finding[] = [];
  const attempt = <T>(subject: string, read: () => T): T | undefined => {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      // Of settings of chains there is a line for each problem, after the first.
      const [first = '', ...more] = error.message.split('\n').map((line) => line.trim());
      for (const line of more.length === 0 ? [first] : more)
        findings.push(bad('problem', 'settings', subject, line, 'Correct it: docs/configure.md.'));
      return undefined;
    }
  };
  const databaseUrl = attempt('database', () =>
    around.env['DATABASE_URL_ADMIN'] ? adminDatabase(around) : operatorDatabase(around),
  );
  const chains = attempt('chains', () => watchedChains(around).map((chain) => chain.settings)) ?? [];
  const busUrl = around.env['NATS_URL'] ? attempt('NATS', () => provisionerNats(around)) : undefined;
  return {
    findings,
    chains,
    ...(databaseUrl === undefined ? {} : { databaseUrl }),
    ...(busUrl === undefined ? {} : { busUrl }),
  };
}

async function look(
  around: Surroundings,
  { chains, busUrl, databaseUrl }: Settings,
  db: Db | undefined,
  options: DoctorOptions,
  { clock, room }: DoctorPorts,
): Promise<Finding[]> {
  const records = await ofDatabase(db, async (own) => [
    ...(await checkServer(own, clock)),
    ...(await checkMigrations(own)),
  ]);
  // What cannot be reached is said once.
  const isUsable = !records.some(
    ({ check, subject, state }) =>
      state === 'problem' && (check === 'migrations' || (check === 'database' && subject === 'answer')),
  );
  const usable = isUsable ? db : undefined;
  const { backups: place, backupHours: hours } = options;
  const connections = connectionsOf(around, databaseUrl, busUrl, chains);
  const found = await Promise.all([
    usable === undefined
      ? []
      : checkAssets(
          usable,
          chains.map(({ chain }) => chain),
        ),
    chains.length === 0
      ? [
          bad(
            'unknown',
            'node',
            'chains',
            'none is configured here',
            'Set <CHAIN>_RPC_URL as payouts has it.',
          ),
        ]
      : checkNodes(chains, usable, clock),
    busUrl === undefined
      ? [bad('unknown', 'bus', 'NATS', 'NATS_URL is not set here', 'Set it as the provisioner has it.')]
      : checkBus(busUrl, clock),
    checkCertificates(connections, clock.now()),
    checkDisks(['/', around.cwd, ...(place === undefined || isInStore(place) ? [] : [place])], room),
    checkBackups(around, { place, hours }, usable, clock.now()),
    ofDatabase(usable, checkArchive),
  ]);
  return [ofNode(), ...records, ...found.flat()];
}

async function ofDatabase(db: Db | undefined, check: (db: Db) => Promise<Finding[]>): Promise<Finding[]> {
  if (db === undefined) return [];
  try {
    return await check(db);
  } catch (error) {
    const remedy = 'Start Postgres, or correct the URL, the password or the certificate.';
    return [bad('problem', 'database', 'answer', why(error), remedy)];
  }
}

function connectionsOf(
  { env }: Surroundings,
  databaseUrl: string | undefined,
  busUrl: string | undefined,
  chains: readonly ChainSettings[],
): Connection[] {
  const given: (Connection | { url: string | undefined; setting: string; subject: string })[] = [
    {
      setting: env['DATABASE_URL_ADMIN'] ? 'DATABASE_URL_ADMIN' : 'OPERATOR_DATABASE_URL',
      subject: 'Postgres',
      url: databaseUrl,
    },
    { setting: 'NATS_URL', subject: 'NATS', url: busUrl },
    { setting: 'REDIS_URL', subject: 'Redis', url: env['REDIS_URL'] || undefined },
    { setting: 'PUBLIC_URL', subject: 'PUBLIC_URL', url: env['PUBLIC_URL'] || undefined },
    ...chains.flatMap(({ chain, rpcUrls }) =>
      rpcUrls.map((url, at) => ({
        setting: `${chain.toUpperCase()}_RPC_URL`,
        subject: `${chain}, node ${at + 1}`,
        url: url.reveal(),
      })),
    ),
  ];
  return given.flatMap(({ url, ...rest }) =>
    url !== undefined && URL.canParse(url) ? [{ ...rest, url }] : [],
  );
}

const ofNode = (): Finding =>
  isOlder(process.versions.node, NODE_WANTED)
    ? bad('problem', 'version', 'Node', process.versions.node, `Use Node ${NODE_WANTED.join('.')} or newer.`)
    : ok('version', 'Node', process.versions.node);

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

const SHOWN: Readonly<Record<State, string>> = {
  ok: 'ok',
  unknown: 'UNKNOWN',
  warning: 'WARNING',
  problem: 'PROBLEM',
};

function tell(findings: readonly Finding[]): SaidOutcome {
  const sorted = findings.toSorted((a, b) => checkNames.indexOf(a.check) - checkNames.indexOf(b.check));
  const rows = sorted.map(({ check, subject, state, found, remedy }) => [
    SHOWN[state],
    check,
    subject,
    remedy === undefined ? found : `${found.replace(/\.$/, '')}. ${remedy}`,
  ]);
  const count = (state: State) => findings.filter((one) => one.state === state).length;
  const [problems, warnings] = [count('problem'), count('warning')];
  return {
    json: { problems, warnings, findings: sorted },
    text: say`${table(['STATE', 'CHECK', 'OF', 'FOUND'], rows)}
${counted(problems, 'problem')}, ${counted(warnings, 'warning')}, ${count('unknown')} not known, ${count('ok')} right.\n`,
    bad: problems > 0,
  };
}
