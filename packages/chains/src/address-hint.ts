import type { ChainKind } from '@quittance/shared/assets';
import { isAddress as isSolanaAddress } from '@solana/kit';
import { bitcoinNetworks } from './bitcoin/network.ts';
import { checkAddress as checkBitcoinAddress } from './bitcoin/wallet.ts';

const RETYPED = 'a character is wrong or missing. Copy the address again.';

const networksOf = (address: string): string =>
  bitcoinNetworks.filter((network) => checkBitcoinAddress(network, address) !== undefined).join('/');

const looksLikeBitcoin = (text: string): boolean =>
  networksOf(text) !== '' || /^(?:bc|tb|bcrt)1[0-9a-z]{8,}$/i.test(text);
const looksLikeEvm = (text: string): boolean => /^0x[0-9a-f]{40}$/i.test(text);

const chainNames = {
  bitcoin: 'Bitcoin',
  evm: 'an EVM chain such as Ethereum',
  solana: 'Solana',
} as const satisfies Record<ChainKind, string>;

/** The kind of chain that an address is of by its form. */
function kindOf(text: string): ChainKind | undefined {
  if (looksLikeEvm(text)) return 'evm';
  // Legacy Bitcoin addresses are shorter than those of Solana.
  if (looksLikeBitcoin(text)) return 'bitcoin';
  return isSolanaAddress(text) ? 'solana' : undefined;
}

/**
 * Which rule a refused address breaks, and what to do.
 * @param ours the hot wallet's address on the chain: its network is the one that payouts go to
 */
export function addressHint(kind: ChainKind, text: string, ours: string): string {
  if (/^[a-z]+:/i.test(text)) {
    return 'Give the address alone: without the scheme before it and without what follows a question mark.';
  }
  if (/\.(?:eth|sol|crypto|x)$/i.test(text)) return 'Names are not looked up: give the address itself.';
  const other = kindOf(text);
  if (other !== undefined && other !== kind) {
    return `This is an address of ${chainNames[other]}, and the asset is on ${chainNames[kind]}: check asset and address.`;
  }
  return hints[kind](text, ours);
}

const hints: Record<ChainKind, (text: string, ours: string) => string> = {
  bitcoin(text, ours) {
    const network = networksOf(text);
    if (text.toLowerCase() === ours.toLowerCase()) return ownWallet;
    if (network !== '') return `This is an address of ${network}, and payouts go to ${networksOf(ours)}.`;
    if (text.length < 14 || text.length > 74) return `The address has ${text.length} characters: ${RETYPED}`;
    if (/^(?:bc|tb|bcrt)1/i.test(text)) {
      const isMixed = text !== text.toLowerCase() && text !== text.toUpperCase();
      if (isMixed) return 'The address mixes upper and lower case: write it in one of them.';
      return `The checksum is wrong, or nobody can spend from this kind of address: ${RETYPED}`;
    }
    if (/^[123mn]/.test(text)) return `The checksum is wrong: ${RETYPED}`;
    return 'This is no Bitcoin address: those begin with bc1, 1 or 3 (on test networks with tb1, bcrt1, m, n or 2).';
  },
  evm(text, ours) {
    const digits = text.replace(/^0x/i, '');
    if (!/^[0-9a-f]*$/i.test(digits)) return 'An address is 0x and 40 hexadecimal digits (0-9, a-f).';
    if (digits.length !== 40) {
      return `The address has ${digits.length} hexadecimal digits after 0x instead of 40: ${RETYPED}`;
    }
    if (!text.startsWith('0x')) return 'The address must begin with 0x.';
    if (text.toLowerCase() === ours.toLowerCase()) return ownWallet;
    if (/^0{36}/.test(digits)) return 'Nobody has the key of this address: what is sent there is lost.';
    return 'The checksum (EIP-55) is wrong: a character is wrong, or the case of a letter. Copy the address again.';
  },
  solana(text, ours) {
    if (text === ours) return ownWallet;
    if (/[^1-9A-HJ-NP-Za-km-z]/.test(text)) {
      return 'The address has a character that base58 does not have, such as 0, O, I or l. Copy it again.';
    }
    if (!isSolanaAddress(text)) {
      return `The address does not have 32 bytes (32 to 44 characters), it has ${text.length} characters: ${RETYPED}`;
    }
    return 'This is the address of a token or a program, not of a wallet: what is sent there is lost.';
  },
};

const ownWallet = 'This is the hot wallet that pays: give the address of the recipient.';
