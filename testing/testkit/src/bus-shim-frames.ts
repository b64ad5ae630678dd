/** One line of NATS' protocol, with the headers and the payload that belong to it. */
export type Frame = {
  /** `PUB`, `HPUB`, `SUB`, `MSG`, `HMSG`, `PING`, … in capitals. */
  op: string;
  args: string[];
  headers: string;
  payload: Buffer;
  /** As it came. */
  raw: Buffer;
};

const NOTHING = Buffer.alloc(0);
const WITH_PAYLOAD = new Set(['PUB', 'MSG', 'HPUB', 'HMSG']);
const LINE_END = '\r\n';

/** Takes the pieces of one direction of a connection as they come and hands over what is complete, in order. */
export function frameReader(take: (frame: Frame) => void): (bytes: Buffer) => void {
  let waiting: Buffer = NOTHING;
  return (bytes) => {
    waiting = waiting.length === 0 ? bytes : Buffer.concat([waiting, bytes]);
    for (;;) {
      const frame = firstFrame(waiting);
      if (frame === undefined) return;
      waiting = waiting.subarray(frame.raw.length);
      take(frame);
    }
  };
}

function firstFrame(bytes: Buffer): Frame | undefined {
  const lineEnd = bytes.indexOf(LINE_END);
  if (lineEnd === -1) return undefined;
  const line = bytes.toString('latin1', 0, lineEnd);
  const [first = '', ...args] = line.split(/[ \t]+/);
  const op = first.toUpperCase();
  const afterLine = lineEnd + LINE_END.length;
  if (!WITH_PAYLOAD.has(op)) {
    return { op, args, headers: '', payload: NOTHING, raw: bytes.subarray(0, afterLine) };
  }
  const total = lengthFrom(args.at(-1));
  const head = op.startsWith('H') ? lengthFrom(args.at(-2)) : 0;
  const end = afterLine + total + LINE_END.length;
  if (bytes.length < end) return undefined;
  return {
    op,
    args,
    headers: bytes.toString('utf8', afterLine, afterLine + head),
    payload: bytes.subarray(afterLine + head, afterLine + total),
    raw: bytes.subarray(0, end),
  };
}

// eslint-disable-next-line no-restricted-syntax -- a length
const lengthFrom = (text = '0'): number => Number(text);

export type Message = { subject: string; sid: string; reply: string | undefined };

/** Of a MSG or HMSG: where it comes from, whom it is for, where the answer goes. */
export function messageOf({ op, args }: Frame): Message {
  const [subject = '', sid = '', reply] = args;
  return { subject, sid, reply: args.length > (op === 'HMSG' ? 4 : 3) ? reply : undefined };
}

/** Of a PUB or HPUB: where it goes, and where its answer is expected. */
export function publicationOf({ op, args }: Frame): { subject: string; reply: string | undefined } {
  const [subject = '', reply] = args;
  return { subject, reply: args.length > (op === 'HPUB' ? 3 : 2) ? reply : undefined };
}

export const publication = (subject: string, payload: Buffer | string): Buffer =>
  Buffer.concat([
    Buffer.from(`PUB ${subject} ${Buffer.byteLength(payload)}${LINE_END}`),
    Buffer.from(payload),
    Buffer.from(LINE_END),
  ]);

export const delivery = ({ subject, sid, reply }: Message, payload: Buffer | string): Buffer =>
  Buffer.concat([
    Buffer.from(
      `MSG ${subject} ${sid} ${reply === undefined ? '' : `${reply} `}${Buffer.byteLength(payload)}${LINE_END}`,
    ),
    Buffer.from(payload),
    Buffer.from(LINE_END),
  ]);

/** Whether a subject is one of those that a subscription names. */
export function isFor(pattern: string, subject: string): boolean {
  const [wanted, given] = [pattern.split('.'), subject.split('.')];
  for (const [i, part] of wanted.entries()) {
    if (part === '>') return given.length > i;
    if (given[i] === undefined || (part !== '*' && part !== given[i])) return false;
  }
  return wanted.length === given.length;
}

const PLACE_IN_STREAM = 5;

export const isEvent = (subject: string) => subject.startsWith('evt.');
export const isQuestion = (subject: string) => subject.startsWith('rpc.');
export const isAcknowledgement = (subject: string) => subject.startsWith('$JS.ACK.');

/** The name that a client gives itself when it connects. */
export function nameIn({ raw }: Frame): string {
  const { name } = JSON.parse(raw.toString('utf8').slice('CONNECT '.length)) as { name?: unknown };
  return typeof name === 'string' ? name : '';
}

/** Not `-NAK`, by which it asks for it again, nor `+WPI`, that it is at it. */
export const isProcessed = ({ payload }: Frame): boolean =>
  payload.length === 0 || payload.toString().startsWith('+ACK');

/** `$JS.ACK.<stream>.<consumer>.<tries>.<place in the stream>.…`: of a place that no event ever had. */
export function unknownToTheBroker(reply = ''): string {
  const parts = reply.split('.');
  parts[PLACE_IN_STREAM] = '999999999999';
  return parts.join('.');
}
