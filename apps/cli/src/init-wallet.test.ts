import { expect, test } from '@jest/globals';
import { openBitcoinWallet } from '@quittance/chains/bitcoin/wallet';
import { openWallet as openEvmWallet } from '@quittance/chains/evm/wallet';
import { openWallet as openSolanaWallet } from '@quittance/chains/solana/wallet';
import { printed } from '@quittance/testkit/printed';
import { refusal } from '@quittance/testkit/refusal';
import { run } from './run.ts';

/** Which extended public keys and hot wallets in an .env are those of its recovery phrase. */
const WORDS = 'abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about';
const OTHER_WORDS = 'legal winner thank year wave sausage worth useful legal winner thank yellow';

const filled = (env: string) =>
  printed((to) => run(['init'], { env: {}, cwd: '/nowhere', ...to, input: async () => env }));

test.each(['BITCOIN', 'ETHEREUM', 'BASE', 'POLYGON'])(
  'a %s_XPUB of other words is refused',
  async (chain) => {
    const accounts = { bitcoin: openBitcoinWallet('mainnet', OTHER_WORDS), evm: openEvmWallet(OTHER_WORDS) };
    const { accountXpub } = chain === 'BITCOIN' ? accounts.bitcoin : accounts.evm;
    const refused = await filled(`WALLET_SEED=${WORDS}\n${chain}_XPUB="${accountXpub}"\n`);
    expect(refused).toMatchObject(refusal(new RegExp(`^${chain}_XPUB: not of`)));
    expect(await filled(`WALLET_SEED=${OTHER_WORDS}\n${chain}_XPUB=${accountXpub}\n`)).toMatchObject({
      code: 0,
    });
  },
);

const HOT = {
  BITCOIN: (words: string) => openBitcoinWallet('mainnet', words).hotAddress,
  ETHEREUM: (words: string) => openEvmWallet(words).hotAddress,
  BASE: (words: string) => openEvmWallet(words).hotAddress,
  POLYGON: (words: string) => openEvmWallet(words).hotAddress,
  SOLANA: (words: string) => openSolanaWallet(words).hotAddress,
};

test.each(Object.entries(HOT))('a %s_HOT_ADDRESS of other words is refused', async (chain, hotAddress) => {
  const given = (address: string) => filled(`WALLET_SEED=${WORDS}\n${chain}_HOT_ADDRESS="${address}"\n`);
  for (const address of [hotAddress(OTHER_WORDS), 'mine'])
    expect(await given(address)).toMatchObject(
      refusal(new RegExp(`^${chain}_HOT_ADDRESS: not of the recovery phrase in WALLET_SEED`)),
    );
  expect(await given(hotAddress(WORDS))).toMatchObject({ code: 0 });
});

test('a hot wallet written in another way is the same', async () => {
  const lines = [
    `BITCOIN_HOT_ADDRESS=${HOT.BITCOIN(WORDS).toUpperCase()}`,
    `ETHEREUM_HOT_ADDRESS=${HOT.ETHEREUM(WORDS).toLowerCase()}`,
  ];
  expect(await filled(`WALLET_SEED=${WORDS}\n${lines.join('\n')}\n`)).toMatchObject({ code: 0 });
});

test('without a place for a wallet, public keys stay', async () => {
  const withoutPlace = `ETHEREUM_XPUB=${openEvmWallet(WORDS).accountXpub}\n`;
  expect(await filled(withoutPlace)).toMatchObject({ code: 0, out: withoutPlace });
});

test('the same key written in another way is the same, and what is none is named', async () => {
  // The account m/84'/0'/0' of these words, as BIP-84 writes it.
  const zpub =
    'zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs';
  expect(await filled(`WALLET_SEED=${WORDS}\nBITCOIN_XPUB=${zpub}\n`)).toMatchObject({ code: 0 });
  expect(await filled(`WALLET_SEED=${WORDS}\nETHEREUM_XPUB=mine\n`)).toMatchObject({
    code: 1,
    err: 'ETHEREUM_XPUB: this is not an extended public key\n',
  });
});

test('the hot wallet of a key in a KMS is neither refused nor filled in: it is not of the words', async () => {
  const key = 'ETHEREUM_HOT_KEY=aws-kms:arn:aws:kms:eu-central-1:111122223333:key/1\n';
  const other = `ETHEREUM_HOT_ADDRESS=${HOT.ETHEREUM(OTHER_WORDS)}\n`;
  const kept = await filled(`WALLET_SEED=${WORDS}\n${key}${other}BASE_HOT_ADDRESS=\n`);
  expect(kept).toMatchObject({ code: 0, out: expect.stringContaining(other) });
  expect(kept.out).toContain(`BASE_HOT_ADDRESS=${HOT.BASE(WORDS)}\n`);
  const { out } = await filled(`WALLET_SEED=${WORDS}\n${key}ETHEREUM_HOT_ADDRESS=\n`);
  expect(out).toContain('\nETHEREUM_HOT_ADDRESS=\n');
});
