import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { startNats } from '@quittance/engines/nats';
import { onServer } from '@quittance/testkit/databases';
import { type DoctorPorts, doctor } from '../src/doctor/doctor-command.ts';
import type { Finding } from '../src/doctor/finding.ts';
import { doctorSuite, hex, ofEthereum, wrong } from './doctor-at.ts';

/** What `quittance doctor` says of an installation that is right, and of each thing that is wrong. */
const { folder, quittance, admin, node, usual, looked, finally: afterwards } = await doctorSuite();

const HOUR_MS = 3_600_000;
const GIB = 1024 ** 3;

/** The doctor with a clock or a disk of the test's own. */
async function lookedWith(changed: Partial<DoctorPorts>, more: Record<string, string> = {}) {
  const around = {
    env: { ...usual, ...more },
    cwd: folder,
    out: () => undefined,
    err: () => undefined,
  };
  const ports: DoctorPorts = {
    clock: { now: () => new Date() },
    room: async () => ({ device: 1, freeBytes: 80 * GIB, totalBytes: 100 * GIB }),
  };
  const outcome = await doctor(around, { backupHours: 26 }, { ...ports, ...changed });
  return (outcome.json as { findings: Finding[] }).findings;
}

describe('an installation that is right', () => {
  test('has no problem, and each check has looked', async () => {
    const backups = join(folder, 'backups');
    mkdirSync(backups);
    writeFileSync(join(backups, 'quittance.dump'), '');
    const url = await node();
    const { code, findings, out, err } = await looked(ofEthereum(url), '--backups', backups);
    expect(wrong(findings)).toEqual([]);
    expect([code, err]).toEqual([0, '']);
    const right = findings
      .filter(({ state }) => state === 'ok')
      .map(({ check, subject }) => `${check} ${subject}`);
    expect(right).toEqual(
      expect.arrayContaining([
        'version Node',
        'version Postgres',
        'version nats-server',
        'database writes',
        'database connections',
        'migrations ledger',
        'clock database',
        'clock NATS',
        `node ethereum, node 1 (${new URL(url).host})`,
        'bus streams',
        `backup newest in ${backups}`,
      ]),
    );
    expect(out).not.toContain('secret');
  });

  test('is told in lines, with a sum at the end, and the exit code 0', async () => {
    const { code, out } = await quittance(['doctor'], { DATABASE_URL_ADMIN: admin });
    expect(out).toMatch(/^STATE +CHECK +OF +FOUND\n/);
    expect(out).toMatch(
      /^UNKNOWN +bus +NATS +NATS_URL is not set here\. Set it as the provisioner has it\.$/m,
    );
    expect(out).toMatch(/\n0 problems, 0 warnings, \d+ not known, \d+ right\.\n$/);
    expect(code).toBe(0);
  });
});

describe('clocks', () => {
  test.each([
    [10_000, /^(?:9\.\d|10\.0) s behind this machine's clock$/],
    [-10_000, /^(?:9\.\d|10\.0) s ahead of this machine's clock$/],
  ])('a clock that is %i ms off is a problem of the database and of NATS', async (offMs, text) => {
    const findings = await lookedWith({ clock: { now: () => new Date(Date.now() + offMs) } });
    const clocks = wrong(findings).filter(({ check }) => check === 'clock');
    expect(clocks.map(({ subject }) => subject)).toEqual(['database', 'NATS']);
    for (const { found, remedy } of clocks) {
      // The question takes some of the ten seconds, on a busy machine a few tenths.
      expect(found).toMatch(text);
      expect(remedy).toContain('NTP');
    }
  });

  test('a block from the future is a problem of a clock', async () => {
    const timestamp = hex(Math.floor(Date.now() / 1_000) + 120);
    const { findings } = await looked(ofEthereum(await node({ eth_getBlockByNumber: { timestamp } })));
    expect(wrong(findings)).toMatchObject([
      { check: 'clock', found: expect.stringMatching(/^block 100 is 1\d\d s ahead/) },
    ]);
  });
});

describe('nodes', () => {
  test.each([
    [
      'of another network',
      { eth_chainId: hex(5) },
      /another network: the node is on chain 5, configured is 1$/,
    ],
    [
      'that downloads blocks',
      { eth_syncing: { currentBlock: hex(7), highestBlock: hex(90) } },
      /blocks: 7 of 90$/,
    ],
    [
      'whose latest block is old',
      { eth_getBlockByNumber: { timestamp: hex(1_700_000_000) } },
      /block, 100, is \d+ s old$/,
    ],
    ['that says nothing that can be read', { eth_chainId: 'x' }, /^no answer \(eth_chainId/],
  ])('a node %s is a problem', async (_name, changed, found) => {
    const { code, findings } = await looked(ofEthereum(await node(changed)));
    expect(wrong(findings)).toMatchObject([{ check: 'node', found: expect.stringMatching(found) }]);
    expect(code).toBe(1);
  });

  test('one that is down is named by its place and its host', async () => {
    const urls = `${await node()},http://127.0.0.1:1/secret`;
    const { findings, out } = await looked(ofEthereum(urls));
    expect(wrong(findings)).toMatchObject([
      { subject: 'ethereum, node 2 (127.0.0.1:1)', found: expect.stringContaining('no answer') },
    ]);
    expect(out).not.toContain('secret');
  });

  test('one that is behind another is a warning', async () => {
    const ahead = await node({ eth_getBlockByNumber: { number: hex(150) } });
    const { code, findings } = await looked(ofEthereum(`${ahead},${await node()}`));
    const warnings = findings.filter(({ state, check }) => state === 'warning' && check === 'node');
    expect(warnings.map(({ found }) => found)).toEqual([expect.stringMatching(/^it is 50 blocks behind/)]);
    expect(code).toBe(0);
  });
});

describe('database', () => {
  test('one that does not answer is one problem, and the others are still looked at', async () => {
    const { code, findings } = await looked({ DATABASE_URL_ADMIN: 'postgres://x:geheim@127.0.0.1:1/x' });
    expect(wrong(findings)).toMatchObject([
      { check: 'database', subject: 'answer', found: expect.stringContaining('ECONNREFUSED') },
    ]);
    expect(findings.some(({ check, state }) => check === 'bus' && state === 'ok')).toBe(true);
    expect(code).toBe(1);
  });

  test('migrations that are missing, or of a newer release, are named', async () => {
    await onServer(
      admin,
      `update ledger.migrations set name = '9001_of_tomorrow' where name = '1039_hold_proofs'`,
    );
    await onServer(admin, `delete from signer.migrations where name = '1002_keys_in_a_kms'`);
    try {
      expect(wrong((await looked({})).findings)).toMatchObject([
        { subject: 'ledger', found: 'a newer release has applied 9001_of_tomorrow' },
        { subject: 'signer', found: '1002_keys_in_a_kms not applied', remedy: 'Run `quittance migrate`.' },
      ]);
    } finally {
      await onServer(
        admin,
        `update ledger.migrations set name = '1039_hold_proofs' where name = '9001_of_tomorrow'`,
      );
      await onServer(admin, `insert into signer.migrations (name, batch) values ('1002_keys_in_a_kms', 1)`);
    }
  });

  test('one that is read-only is a problem', async () => {
    const name = new URL(admin).pathname.slice(1);
    await onServer(admin, `alter database ${name} set default_transaction_read_only = on`);
    try {
      const { findings } = await looked({});
      expect(wrong(findings)).toMatchObject([{ subject: 'writes', found: 'it is read-only' }]);
    } finally {
      await onServer(
        admin,
        `begin read write; alter database ${name} reset default_transaction_read_only; commit`,
      );
    }
  });

  test('an active asset without its chain is a warning', async () => {
    await onServer(admin, `update ledger.assets set active = true where symbol = 'BTC'`);
    const { findings } = await looked({});
    await onServer(admin, `update ledger.assets set active = false where symbol = 'BTC'`);
    expect(findings.find(({ subject }) => subject === 'assets')).toMatchObject({
      state: 'warning',
      found: 'BTC is active, and bitcoin is not configured here',
      remedy: 'Set BITCOIN_RPC_URL, or take BTC out of ASSETS_ACTIVE.',
    });
  });
});

describe('settings', () => {
  test('each that is wrong has its line, and no value', async () => {
    const { code, findings, out } = await looked({
      DATABASE_URL_ADMIN: 'mysql://u:geheim@x/y',
      BITCOIN_RPC_URL: 'http://user:geheim@127.0.0.1:1',
      ETHEREUM_RPC_URL: 'geheim',
    });
    expect(wrong(findings).map(({ found }) => found)).toEqual([
      'DATABASE_URL_ADMIN is not a postgres:// URL.',
      expect.stringMatching(/^ETHEREUM_RPC_URL: must be an http or https URL/),
      expect.stringMatching(/^BITCOIN_NETWORK: is required/),
      expect.stringMatching(/^ETHEREUM_CHAIN_ID: is required/),
    ]);
    expect(out).not.toContain('geheim');
    expect(code).toBe(1);
  });
});

describe('NATS', () => {
  test('without its stream, consumers and buckets is a problem', async () => {
    const empty = await startNats({ dataDir: join(folder, 'empty-nats'), port: 0 });
    afterwards(() => empty.stop());
    const { findings } = await looked({ NATS_URL: empty.url });
    expect(wrong(findings)).toMatchObject([
      {
        check: 'bus',
        found: expect.stringMatching(/^NATS lacks stream EVT, stream KV_quotes, .*consumer ledger/),
        remedy: expect.stringContaining('nats provision --watch'),
      },
    ]);
  });

  test('that does not answer is a problem', async () => {
    const { findings } = await looked({ NATS_URL: 'nats://provisioner:geheim@127.0.0.1:1' });
    expect(wrong(findings)).toMatchObject([
      { check: 'bus', found: expect.stringMatching(/^no answer \(.*REFUSED/) },
    ]);
  });
});

describe('disks and backups', () => {
  test.each([
    [80, 'ok'],
    [8, 'warning'],
    [1, 'problem'],
  ])('a disk with %i of 100 GiB free is %s', async (free, state) => {
    const room = async () => ({ device: 1, freeBytes: free * GIB, totalBytes: 100 * GIB });
    const disks = (await lookedWith({ room })).filter(({ check }) => check === 'disk');
    expect(disks).toEqual([
      expect.objectContaining({ state, subject: '/', found: `${free}.0 of 100.0 GiB are free` }),
    ]);
  });

  test('a last backup of yesterday morning is a problem, and so is none', async () => {
    const backups = join(folder, 'old-backups');
    mkdirSync(backups);
    expect(wrong((await looked({}, '--backups', backups)).findings)).toMatchObject([
      { check: 'backup', found: 'the folder is empty' },
    ]);
    writeFileSync(join(backups, 'monday.dump'), '');
    utimesSync(join(backups, 'monday.dump'), new Date(), new Date(Date.now() - 30 * HOUR_MS));
    expect(wrong((await looked({}, '--backups', backups)).findings)).toMatchObject([
      { check: 'backup', found: 'monday.dump is 30 hours old' },
    ]);
    expect((await looked({}, '--backups', backups, '--backup-hours', '48')).code).toBe(0);
  });
});
