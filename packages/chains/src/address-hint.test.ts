import { expect, test } from '@jest/globals';
import type { ChainKind } from '@quittance/shared/assets';
import { addressHint } from './address-hint.ts';

const p2wpkh = 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq';
const owner = '7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU';
const evmAddress = '0x52908400098527886E0F7030069857D2E4169EE7';
const ours: Record<ChainKind, string> = {
  bitcoin: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
  evm: '0x70997970c51812dc3a010c7d01b50e0d17dc79c8',
  solana: '9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM',
};

test.each<[ChainKind, string, string]>([
  ['bitcoin', `${p2wpkh.slice(0, -1)}p`, 'The checksum is wrong'],
  ['bitcoin', '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb', 'The checksum is wrong'],
  ['bitcoin', `BC1${p2wpkh.slice(3)}`, 'mixes upper and lower case'],
  ['bitcoin', 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx', 'of testnet/signet, and payouts go to mainnet'],
  ['bitcoin', 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080', 'of regtest, and payouts go to mainnet'],
  ['bitcoin', evmAddress, 'of an EVM chain such as Ethereum, and the asset is on Bitcoin'],
  ['bitcoin', owner, 'of Solana, and the asset is on Bitcoin'],
  ['bitcoin', 'bc1q', 'has 4 characters'],
  ['bitcoin', 'somewhere in the city', 'This is no Bitcoin address'],
  ['bitcoin', `bitcoin:${p2wpkh}?amount=1`, 'the address alone'],
  ['bitcoin', ours.bitcoin.toUpperCase(), 'hot wallet'],
  ['evm', '0x52908400098527886e0F7030069857D2E4169EE7', 'EIP-55'],
  ['evm', evmAddress.slice(0, -1), 'has 39 hexadecimal digits'],
  ['evm', evmAddress.slice(2), 'must begin with 0x'],
  ['evm', `0x${'g'.repeat(40)}`, '40 hexadecimal digits'],
  ['evm', `0x${'0'.repeat(40)}`, 'Nobody has the key'],
  ['evm', ours.evm, 'hot wallet'],
  ['evm', p2wpkh, 'of Bitcoin, and the asset is on an EVM chain'],
  ['evm', owner, 'of Solana, and the asset is on an EVM chain'],
  ['evm', 'shop.eth', 'Names are not looked up'],
  ['solana', owner.replace('7', '0'), 'base58'],
  ['solana', `${owner}22`, 'does not have 32 bytes'],
  ['solana', 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v', 'a token or a program'],
  ['solana', evmAddress, 'of an EVM chain such as Ethereum, and the asset is on Solana'],
  ['solana', '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa', 'of Bitcoin, and the asset is on Solana'],
  ['solana', ours.solana, 'hot wallet'],
])('%s: the hint for %s names the broken rule', (kind, text, hint) => {
  expect(addressHint(kind, text, ours[kind])).toContain(hint);
});
