import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { openBitcoinWallet } from '@quittance/chains/bitcoin/wallet';
import { openWallet } from '@quittance/chains/evm/wallet';
import { encryptPhrase, writeSecretFile } from '@quittance/chains/keystore';
import { openWallet as openSolanaWallet } from '@quittance/chains/solana/wallet';
import { commandSubject, type RequestOf } from '@quittance/shared/commands';
import { ConfigError } from '@quittance/shared/config';
import { eventually } from '@quittance/testkit/eventually';
import { runServiceMain } from '@quittance/testkit/service-main';
import { z } from 'zod';
import type { SignerService } from '../src/service.ts';
import { ALL_TABLES, signerSuite } from './signer-fixture.ts';
import { aTransfer, OTHER_SEED, SEED } from './signer-orders.ts';
import { openSignerService } from './signer-service-fixture.ts';

/** The service as it is started, with a ledger on the same NATS. */

const fixture = await signerSuite();
const {
  payouts,
  invoices,
  settings,
  requestOf,
  start,
  signed: signedOrder,
} = await openSignerService(fixture);
const dir = mkdtempSync(join(tmpdir(), 'quittance-signer-'));
fixture.database.finally(() => rmSync(dir, { recursive: true }));

async function during<T>(starting: Promise<SignerService>, work: () => Promise<T>): Promise<T> {
  const signer = await starting;
  try {
    return await work();
  } finally {
    await signer.stop();
  }
}

const signed = (payout: string, nonce = 0) => signedOrder(aTransfer(payout, { nonce }));

const derived = (asked: RequestOf<'addresses.derive'>) =>
  eventually(async () => {
    const answer = await invoices.ask('addresses.derive', asked);
    if (!answer.known) throw new Error(`no addresses were derived: ${answer.reason}`);
    return answer.reply;
  });

const firstOf = (seed: string) => ({
  bitcoin: openBitcoinWallet('regtest', seed).address('deposit', 0),
  ethereum: openWallet(seed).depositAddress(0),
});
const chains = ['bitcoin', 'ethereum'] as const;

it('signs what payouts asks for over NATS, and listens nowhere', async () => {
  fixture.hold('1');
  const signer = await start();
  const reply = await during(Promise.resolve(signer), () => signed('1'));
  expect([reply.signed.length, reply.refused, signer.port]).toEqual([1, null, 0]);
});

/** A process that has been asked until it was killed at a failpoint. */
async function killedAt(point: string, payout: string): Promise<void> {
  const { ended, kill } = runServiceMain('signer', settings({ CRASH_AT: point }));
  const subject = commandSubject('transactions.sign');
  try {
    let signal: string | null | undefined;
    void ended.then((how) => (signal = how.signal));
    await eventually(async () => {
      const answer = await payouts.request(subject, requestOf(aTransfer(payout)), z.unknown(), 500);
      expect(answer.known).toBe(false);
      expect(signal).toBe('SIGKILL');
    }, 60_000);
  } finally {
    kill('SIGKILL');
  }
}

it('a process that is killed between commit and reply has signed, and signs the same bytes after its restart', async () => {
  await killedAt('signer.recorded', fixture.hold('1'));
  const [stored] = await fixture.db.rows<{ tx_hash: string }>('select tx_hash from signatures');
  expect(stored).toBeDefined();
  fixture.around.holds.clear();
  await during(start(), async () => {
    const { signed: again } = await signed('1');
    expect(again).toMatchObject([{ txHash: stored?.tx_hash }]);
    // What was committed counts, although nobody was told.
    expect(await signed('1', 1)).toMatchObject({ signed: [], refused: { payouts: ['1'] } });
  });
  expect(await fixture.rows()).toMatchObject({ signatures: 1 });
}, 180_000);

it('a process that is killed before its commit has signed nothing', async () => {
  await killedAt('signer.recording', fixture.hold('1'));
  expect(await fixture.rows()).toEqual({});
}, 180_000);

it('of two orders of a payout that two replicas are asked for at once, one is signed', async () => {
  const [one, other] = [fixture.portsOf(SEED), fixture.portsOf(SEED)];
  for (let payout = 1; payout <= 5; payout++) {
    const id = fixture.hold(String(payout));
    const replies = await Promise.all([
      fixture.sign('ethereum', [aTransfer(id, { nonce: 10 * payout })], false, one),
      fixture.sign('ethereum', [aTransfer(id, { nonce: 10 * payout + 1 })], false, other),
    ]);
    expect(replies.map(({ signed: all }) => all.length).toSorted()).toEqual([0, 1]);
  }
  expect(await fixture.rows()).toMatchObject({ signatures: 5, cleared_payouts: 5 });
});

describe('the recovery phrase', () => {
  it('comes from a keystore', async () => {
    const files = { WALLET_KEYSTORE: join(dir, 'keystore'), WALLET_PASSPHRASE_FILE: join(dir, 'passphrase') };
    writeSecretFile(files.WALLET_KEYSTORE, encryptPhrase(OTHER_SEED, 'a passphrase', { n: 2 ** 14 }));
    writeSecretFile(files.WALLET_PASSPHRASE_FILE, 'a passphrase\n');
    await during(start({ WALLET_SEED: '', ...files }), async () => {
      for (const chain of chains) {
        const reply = await derived({ chain, from: 0, count: 1, expected: ['another'] });
        expect(reply).toEqual({ addresses: [firstOf(OTHER_SEED)[chain]] });
      }
    });
    writeSecretFile(join(dir, 'wrong'), 'wrong\n');
    const failure = start({ WALLET_SEED: '', ...files, WALLET_PASSPHRASE_FILE: join(dir, 'wrong') });
    await expect(failure).rejects.toThrow(/WALLET_KEYSTORE: .*the passphrase is not the one/);
  });

  it('that has signed is bound to the database: another one refuses the start', async () => {
    fixture.hold('1');
    await during(start(), () => signed('1'));
    const failure = await start({ WALLET_SEED: OTHER_SEED }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ConfigError);
    expect((failure as ConfigError).problems).toEqual([
      expect.stringContaining(`this database was used with ${openWallet(SEED).hotAddress}`),
    ]);
  });

  it('that another replica was first to sign with keeps this one from signing', async () => {
    await fixture.sign('ethereum', [aTransfer(fixture.hold('1'))]);
    const other = fixture.portsOf(OTHER_SEED);
    await expect(fixture.sign('ethereum', [aTransfer(fixture.hold('2'))], false, other)).rejects.toThrow(
      'this database was used with',
    );
  });

  it('whose addresses invoices gives out is bound to the database, and one that does not match is not', async () => {
    for (const seed of [OTHER_SEED, SEED, SEED]) {
      await during(start({ WALLET_SEED: seed }), async () => {
        for (const chain of chains) {
          const reply = await derived({ chain, from: 0, count: 1, expected: [firstOf(SEED)[chain]] });
          expect(reply).toEqual({ addresses: [firstOf(seed)[chain]] });
        }
      });
    }
    await expect(start({ WALLET_SEED: OTHER_SEED })).rejects.toThrow('this database was used with');
  });

  it('derives addresses of Solana, and none of a chain that is not configured', async () => {
    const { hotAddress, depositAddress } = openSolanaWallet(SEED);
    const solana = {
      SOLANA_RPC_URL: 'http://127.0.0.1:1',
      SOLANA_NETWORK: 'local',
      SOLANA_USDC_MINT: hotAddress,
    };
    await during(start(solana), async () => {
      const reply = await derived({ chain: 'solana', from: 5, count: 3 });
      expect(reply).toEqual({ addresses: [5, 6, 7].map(depositAddress) });
      const unknown = await invoices.ask('addresses.derive', { chain: 'polygon', from: 0, count: 1 });
      expect(unknown).toMatchObject({ known: false });
    });
    await expect(start({ ...solana, WALLET_SEED: OTHER_SEED })).rejects.toThrow(`used with ${hotAddress}`);
  });
});

it('its role changes and deletes nothing that it has stored', async () => {
  await fixture.sign('ethereum', [aTransfer(fixture.hold('1'))]);
  for (const table of ALL_TABLES) {
    await expect(fixture.db.rows(`delete from ${table}`)).rejects.toMatchObject({ code: '42501' });
  }
  await expect(fixture.db.rows('update signatures set nonce = 9')).rejects.toMatchObject({ code: '42501' });
});
