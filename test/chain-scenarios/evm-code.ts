import type { Hex } from 'viem';

/**
 * Small contracts, written as what they do when they are called. Bytes, because what a forger deploys is in no
 * compiler's library.
 */
export type Instruction =
  /** A log from the contract itself, with these topics and words of data. */
  | { log: readonly Hex[]; data: readonly Hex[] }
  /** A call of another contract or address; `failing` does not stop what comes after. */
  | { call: Hex; value?: bigint; data?: Hex }
  /** The other's code on this contract's own storage. */
  | { delegate: Hex; data: Hex }
  /** An old call that names an address, and gives the value to the caller itself. */
  | { callCode: Hex; value: bigint }
  | { destroyTo: Hex }
  | { give: Hex }
  | 'revert';

const word = (value: bigint | Hex): string =>
  (typeof value === 'bigint' ? value.toString(16) : value.slice(2)).padStart(64, '0');
const push = (value: bigint | Hex): string => `7f${word(value)}`;
const store = (at: number, value: string): string => `7f${value}${push(BigInt(at))}52`;

/** Writes bytes to memory from 0 on, and answers how many they are. */
function keep(data: string): { code: string; bytes: bigint } {
  const bytes = BigInt(data.length / 2);
  const padded = data.padEnd(Math.ceil(data.length / 64) * 64, '0');
  const words = padded.match(/.{64}/g) ?? [];
  return { code: words.map((one, i) => store(32 * i, one)).join(''), bytes };
}

function codeOf(instruction: Instruction): string {
  if (instruction === 'revert') return `${push(0n)}${push(0n)}fd`;
  if ('log' in instruction) {
    const { code, bytes } = keep(instruction.data.map((one) => one.slice(2)).join(''));
    const topics = instruction.log.toReversed().map(push).join('');
    return `${code}${topics}${push(bytes)}${push(0n)}${(0xa0 + instruction.log.length).toString(16)}`;
  }
  if ('destroyTo' in instruction) return `${push(instruction.destroyTo)}ff`;
  if ('give' in instruction) {
    const { code, bytes } = keep(instruction.give.slice(2));
    return `${code}${push(bytes)}${push(0n)}f3`;
  }
  const { code, bytes } = keep(('data' in instruction ? (instruction.data ?? '0x') : '0x').slice(2));
  const answer = `${push(0n)}${push(0n)}`;
  const input = `${push(bytes)}${push(0n)}`;
  if ('delegate' in instruction) return `${code}${answer}${input}${push(instruction.delegate)}5af450`;
  if ('callCode' in instruction)
    return `${answer}${input}${push(instruction.value)}${push(instruction.callCode)}5af250`;
  return `${code}${answer}${input}${push(instruction.value ?? 0n)}${push(instruction.call)}5af150`;
}

/** What runs when it is called. */
export const runtime = (...instructions: Instruction[]): Hex => `0x${instructions.map(codeOf).join('')}`;

/** What a transaction without a recipient carries, to leave that behind; `first` is done while it is made. */
export function creation(code: Hex, ...first: Instruction[]): Hex {
  const body = code.slice(2);
  const length = BigInt(body.length / 2);
  const before = first.map(codeOf).join('');
  // CODECOPY and RETURN, each number as a word: 33 bytes of push.
  const tail = (at: bigint) => `${push(length)}${push(at)}${push(0n)}39${push(length)}${push(0n)}f3`;
  const at = BigInt((before.length + tail(0n).length) / 2);
  return `0x${before}${tail(at)}${body}`;
}
