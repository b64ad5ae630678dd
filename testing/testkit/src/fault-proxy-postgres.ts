/**
 * Follows a connection to Postgres (protocol 3, without TLS) far enough to know when something is committed: by the
 * word `commit`, or by the end of a writing statement that stands outside of any transaction.
 */
export type PostgresReader = {
  /** What of these bytes may go on to Postgres, and whether what comes then is a commit. */
  sent(bytes: Buffer): { before: Buffer; commit: Buffer | undefined };
  /** True when Postgres has said that it is done with what it was asked. */
  answered(bytes: Buffer): boolean;
};

const TYPED_HEAD = 5;
const STARTUP_HEAD = 4;
const IDLE = 'I';
const WRITES = /^\s*(?:insert|update|delete|with)\b/i;

export function postgresReader(): PostgresReader {
  const texts = new Map<string, string>();
  let statement = '';
  let state = IDLE;
  let started = false;
  let asked = Buffer.alloc(0);
  let said = Buffer.alloc(0);

  function isCommit(type: string, body: Buffer): boolean {
    switch (type) {
      // Query: a text and its end.
      case 'Q':
        return /^\s*commit\b/i.test(textAt(body, 0));
      // Parse: a name, then the text it stands for.
      case 'P': {
        const name = textAt(body, 0);
        texts.set(name, textAt(body, Buffer.byteLength(name) + 1));
        return false;
      }
      // Bind: a portal, then the name of its statement.
      case 'B': {
        const portal = textAt(body, 0);
        statement = texts.get(textAt(body, Buffer.byteLength(portal) + 1)) ?? '';
        return false;
      }
      // Sync: what stands outside of a transaction is committed now.
      case 'S':
        return state === IDLE && WRITES.test(statement);
      default:
        return false;
    }
  }

  return {
    sent(bytes) {
      asked = Buffer.concat([asked, bytes]);
      let end = 0;
      for (;;) {
        const head = started ? TYPED_HEAD : STARTUP_HEAD;
        if (asked.length - end < head) break;
        const length = asked.readUInt32BE(end + head - 4) + head - 4;
        if (asked.length - end < length) break;
        const type = started ? asked.toString('latin1', end, end + 1) : '';
        const commits = isCommit(type, asked.subarray(end + head, end + length));
        started = true;
        if (commits) {
          const found = { before: asked.subarray(0, end), commit: asked.subarray(end) };
          asked = Buffer.alloc(0);
          return found;
        }
        end += length;
      }
      const before = asked.subarray(0, end);
      asked = asked.subarray(end);
      return { before, commit: undefined };
    },
    answered(bytes) {
      said = Buffer.concat([said, bytes]);
      let done = false;
      for (;;) {
        if (said.length < TYPED_HEAD) return done;
        const length = said.readUInt32BE(1) + 1;
        if (said.length < length) return done;
        // ReadyForQuery, and whether a transaction is open.
        if (said.toString('latin1', 0, 1) === 'Z') {
          state = said.toString('latin1', TYPED_HEAD, TYPED_HEAD + 1);
          done = true;
        }
        said = said.subarray(length);
      }
    },
  };
}

function textAt(body: Buffer, from: number): string {
  const end = body.indexOf(0, from);
  return body.toString('utf8', from, end === -1 ? body.length : end);
}
