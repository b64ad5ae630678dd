import type { Chain } from '@quittance/shared/assets';
import type { Command } from 'commander';
import { chainNamed } from './chain-named.ts';
import { type Line, leaf } from './command-options.ts';
import type { WalletInitOptions, WalletOptions } from './wallet-commands.ts';
import { USUAL_KEYSTORE, USUAL_PASSPHRASE_FILE } from './wallet-files.ts';

// Loaded when a command runs, for the reason that command-line.ts gives.
const loadWallets = () => import('./wallet-commands.ts');
const loadWalletKms = () => import('./wallet-kms.ts');

/** Commands that ask neither a database nor a node: they can run on a machine without a network. */
export function addWalletCommands(program: Command, { around, prints }: Line): void {
  const wallet = program
    .command('wallet')
    .description('The keystore, which holds the recovery phrase encrypted. Only hot-address uses a network.');
  withFiles(
    leaf(wallet, 'init', 'encrypt a new recovery phrase, or one that you have, to a keystore'),
    'the file with the passphrase; without such a file a random one is written to it',
  )
    .option('--phrase-file <path>', 'take the recovery phrase from a file; - is standard input')
    .option('--restore', 'ask for the recovery phrase on the terminal')
    .addHelpText(
      'after',
      '\nA new phrase is shown once, on a terminal only: write it on paper. A keystore is never overwritten. Give both files to the signer as\nWALLET_KEYSTORE and WALLET_PASSPHRASE_FILE.\n\nExamples:\n  $ npx quittance wallet init\n  $ npx quittance wallet init --restore --keystore /secure/keystore.json --ask-passphrase\n',
    )
    .action(prints(async (options: WalletInitOptions) => (await loadWallets()).walletInit(around, options)));
  withFiles(
    leaf(
      wallet,
      'show-xpub',
      'print the extended public keys for invoices, and the hot wallets’ addresses for payouts',
    ),
  )
    .addHelpText(
      'after',
      '\nThe keys of Bitcoin are of the network that BITCOIN_NETWORK names (default mainnet).\n',
    )
    .action(prints(async (options: WalletOptions) => (await loadWallets()).walletShowXpub(around, options)));
  leaf(wallet, 'hot-address', 'print the address of a hot wallet whose key is in a KMS, for payouts')
    .argument('<chain>', 'bitcoin, ethereum, solana, base or polygon', chainNamed)
    .argument('<key>', 'as the signer is given it in <CHAIN>_HOT_KEY')
    .addHelpText(
      'after',
      '\nAsks the KMS for the public key, with the credentials that its own programs find.\n',
    )
    .action(
      prints(async (chain: Chain, key: string) =>
        (await loadWalletKms()).walletHotAddress(around, chain, key),
      ),
    );
  withFiles(
    leaf(
      wallet,
      'backup-check',
      'ask for the recovery phrase on your paper, and compare it with the keystore',
    ),
  )
    .addHelpText('after', '\nWhat you type is not shown. Exit code 1: the words differ.\n')
    .action(
      prints(async (options: WalletOptions) => (await loadWallets()).walletBackupCheck(around, options)),
    );
}

const withFiles = (
  command: Command,
  passphrase = 'the file with the passphrase; without such a file it is asked for',
) =>
  command
    .option('--keystore <path>', `the keystore; without this WALLET_KEYSTORE, or ${USUAL_KEYSTORE}`)
    .option(
      '--passphrase-file <path>',
      `${passphrase}; without this WALLET_PASSPHRASE_FILE, or ${USUAL_PASSPHRASE_FILE}`,
    )
    .option('--ask-passphrase', 'ask for the passphrase on the terminal, and write it nowhere');
