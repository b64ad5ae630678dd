import { bitcoinNetworks, factsOf } from '@quittance/chains/bitcoin/network';
import { addressOf as bitcoinAddress } from '@quittance/chains/bitcoin/wallet';
import { addressOf as evmAddress } from '@quittance/chains/evm/wallet';
import { keyPairOf } from '@quittance/chains/solana/wallet';
import { openHotKey } from '@quittance/kms/hot-keys';
import { KEY_NAME_FORM, type KmsKeyName, readKeyName } from '@quittance/kms/key-name';
import { type Chain, type ChainKind, chainKinds } from '@quittance/shared/assets';
import { reason } from '@quittance/shared/logger';
import { assertNever } from '@quittance/shared/result';
import type { SaidOutcome } from './outcome.ts';
import { say } from './output.ts';
import { CommandError, type Surroundings } from './surroundings.ts';

/** The hot wallet of a key in a KMS, as payouts is given it. Asks the KMS for the public key. */
export async function walletHotAddress(
  { env }: Pick<Surroundings, 'env'>,
  chain: Chain,
  key: string,
): Promise<SaidOutcome> {
  const name = readKeyName(key);
  if (name === undefined) throw new CommandError(`The key ${KEY_NAME_FORM}.`);
  try {
    const address = await hotAddress(env, chainKinds[chain], name);
    const setting = `${chain.toUpperCase()}_HOT_ADDRESS`;
    return { text: say`${setting}=${address}\n`, json: { [setting]: address } };
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ERR_MODULE_NOT_FOUND')
      throw new CommandError(
        'The client of this KMS is not installed beside this command. Use the image quittance/cli, or read the address in the log of the signer.',
      );
    throw new CommandError(`No hot wallet: ${reason(error)}.`);
  }
}

async function hotAddress(env: Surroundings['env'], kind: ChainKind, name: KmsKeyName): Promise<string> {
  const options = { googleEndpoint: env['GOOGLE_KMS_ENDPOINT'] || undefined };
  switch (kind) {
    case 'bitcoin': {
      const given = env['BITCOIN_NETWORK'] || 'mainnet';
      const network = bitcoinNetworks.find((one) => one === given);
      if (network === undefined)
        throw new Error(`BITCOIN_NETWORK must be one of ${bitcoinNetworks.join(', ')}`);
      return bitcoinAddress(factsOf(network).form, (await openHotKey(kind, name, options)).publicKey);
    }
    case 'evm':
      return evmAddress((await openHotKey(kind, name, options)).publicKey);
    case 'solana':
      return keyPairOf(await openHotKey(kind, name, options)).address;
    default:
      return assertNever(kind);
  }
}
