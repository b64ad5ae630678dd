import { expect, it } from '@jest/globals';
import { ConfigError } from '@quittance/shared/config';
import { hotAddressesOf } from '@quittance/testkit/scripted-signer';
import { serviceSuite } from './service-fixture.ts';

const OTHER_SEED = `${'abandon '.repeat(11)}about`;

const fixture = serviceSuite();

it('payouts does not start with another hot wallet than the database was used with, and names both', async () => {
  const { BITCOIN_HOT_ADDRESS: bitcoin, ETHEREUM_HOT_ADDRESS: ethereum } = hotAddressesOf(OTHER_SEED);
  const onBoth = { BITCOIN_RPC_URL: 'http://127.0.0.1:1', BITCOIN_NETWORK: 'regtest' };
  const first = await fixture.start(onBoth);
  await fixture.db.rows(
    `insert into wallets (chain, address, role, next_nonce)
     values ('bitcoin', $1, 'hot', null), ('ethereum', $2, 'hot', 0)`,
    [bitcoin, ethereum],
  );
  await first.stop();
  const failure = await fixture.start(onBoth).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(ConfigError);
  expect((failure as ConfigError).problems).toEqual([
    expect.stringContaining(`this database was used with ${bitcoin}`),
    expect.stringContaining(`this database was used with ${ethereum}`),
  ]);
});
