import { createReadStream } from 'node:fs';
import { basename } from 'node:path';
import { createInterface } from 'node:readline';
import type { Discrepancy } from './discrepancy.ts';

/** Values that no log may hold, by their names. */
export type Secrets = Readonly<Record<string, string>>;

/** Shorter ones stand in innocent words. */
const SECRET_LENGTH_MIN = 6;
/** A few words of a wallet in a row are as good as a leak. */
const WORDS_TOGETHER = 4;

const noSecretInLogs = 'no secret stands in any log';

/** Finds secrets in log files, also quoted, encoded, or a part of a wallet's words. Names them, and never shows them. */
export async function secretsInLogs(files: readonly string[], secrets: Secrets): Promise<Discrepancy[]> {
  const wanted = Object.entries(secrets).flatMap(([name, value]) =>
    formsOf(value).map((form) => ({ name, form })),
  );
  const discrepancies: Discrepancy[] = [];
  for (const file of files) {
    let number = 0;
    for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) {
      number += 1;
      const names = new Set(wanted.filter(({ form }) => line.includes(form)).map(({ name }) => name));
      for (const name of names) {
        discrepancies.push({
          invariant: 'I11',
          name: 'no-secret-in-logs',
          meaning: noSecretInLogs,
          what: `${name} stands in ${file}, line ${number}`,
          subject: `${name} in ${basename(file)}`,
          pausesPayouts: false,
        });
      }
    }
  }
  return discrepancies;
}

/** How a value may stand in a line of JSON or in a URL. */
function formsOf(value: string): string[] {
  if (value.length < SECRET_LENGTH_MIN) return [];
  const bytes = Buffer.from(value);
  const forms = [
    value,
    JSON.stringify(value).slice(1, -1),
    encodeURIComponent(value),
    bytes.toString('hex'),
    bytes.toString('base64').replace(/=+$/, ''),
    bytes.toString('base64url'),
  ];
  const words = value.trim().split(/\s+/);
  for (let at = 0; at + WORDS_TOGETHER <= words.length; at++) {
    const some = words.slice(at, at + WORDS_TOGETHER);
    forms.push(some.join(' '), some.join('","'), some.join(','));
  }
  return [...new Set(forms)];
}
