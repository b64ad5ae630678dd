import type { Hex } from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';
import { decodeFunctionResult, encodeFunctionData, hashStruct, hexToNumber, parseAbi } from 'viem/utils';
import { type TokenDomain, WrongNetwork } from '../chain.ts';
import { type Rpc, RpcRefused, read } from '../json-rpc.ts';
import { bytes } from './rpc.ts';

/** Only the receiver can use such an authorization (receiveWithAuthorization), so it need not expire. */
const NEVER_EXPIRES = 2n ** 256n - 1n;

const abi = parseAbi([
  'function name() view returns (string)',
  'function version() view returns (string)',
  'function DOMAIN_SEPARATOR() view returns (bytes32)',
  'function eip712Domain() view returns (bytes1 fields, string name, string version, uint256 chainId, address verifyingContract, bytes32 salt, uint256[] extensions)',
  'function receiveWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
]);

const domainFields = {
  EIP712Domain: [
    { name: 'name', type: 'string' },
    { name: 'version', type: 'string' },
    { name: 'chainId', type: 'uint256' },
    { name: 'verifyingContract', type: 'address' },
  ],
};

const messageFields = {
  ReceiveWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const;

/**
 * Asks a token what its signatures are bound to. USD Coin tells by name() and version(), newer tokens by
 * eip712Domain(); where the token also tells the hash of it, only what gives that hash is believed.
 * Throws WrongNetwork when the token takes no authorizations.
 */
export async function readTokenDomain(rpc: Rpc, chainId: number, contract: string): Promise<TokenDomain> {
  const asked = ['name', 'version', 'DOMAIN_SEPARATOR', 'eip712Domain'] as const;
  const answers = await rpc.batch(
    asked.map((functionName) => ({
      method: 'eth_call',
      params: [{ to: contract, data: encodeFunctionData({ abi, functionName }) }, 'latest'],
    })),
  );
  const [name, version, separator, domain] = [
    decoded(answers[0], (data) => decodeFunctionResult({ abi, functionName: 'name', data })),
    decoded(answers[1], (data) => decodeFunctionResult({ abi, functionName: 'version', data })),
    decoded(answers[2], (data) => decodeFunctionResult({ abi, functionName: 'DOMAIN_SEPARATOR', data })),
    decoded(answers[3], (data) => decodeFunctionResult({ abi, functionName: 'eip712Domain', data })),
  ];
  const place = { chainId, verifyingContract: contract as Hex };
  const candidates: TokenDomain[] = [];
  if (name !== undefined && version !== undefined) candidates.push({ name, version, ...place });
  if (domain !== undefined) candidates.push({ name: domain[1], version: domain[2], ...place });
  const hashOf = (data: TokenDomain) =>
    hashStruct({ primaryType: 'EIP712Domain', types: domainFields, data });
  const believed = candidates.find((one) => separator === undefined || hashOf(one) === separator);
  if (believed === undefined) {
    throw new WrongNetwork(`the token at ${contract} does not tell how to sign for it (EIP-3009)`);
  }
  return believed;
}

/** Undefined when the contract does not have the function: it reverts, or answers with something else. */
function decoded<T>(answer: unknown, decode: (data: Hex) => T): T | undefined {
  if (answer instanceof RpcRefused) return undefined;
  const data = read(bytes, answer, 'eth_call') as Hex;
  try {
    return decode(data);
  } catch {
    return undefined;
  }
}

export type Authorization = { to: string; amount: bigint; nonce: Hex };

/** The call by which `to` takes what the signer holds, without the signer paying or sending anything (EIP-3009). */
export async function receiveCall(
  signer: PrivateKeyAccount,
  domain: TokenDomain,
  { to, amount, nonce }: Authorization,
): Promise<Hex> {
  const message = {
    from: signer.address,
    to: to as Hex,
    value: amount,
    validAfter: 0n,
    validBefore: NEVER_EXPIRES,
    nonce,
  };
  const signature = await signer.signTypedData({
    domain,
    types: messageFields,
    primaryType: 'ReceiveWithAuthorization',
    message,
  });
  return encodeFunctionData({
    abi,
    functionName: 'receiveWithAuthorization',
    args: [
      message.from,
      message.to,
      message.value,
      message.validAfter,
      message.validBefore,
      message.nonce,
      hexToNumber(`0x${signature.slice(130)}`),
      `0x${signature.slice(2, 66)}`,
      `0x${signature.slice(66, 130)}`,
    ],
  });
}
