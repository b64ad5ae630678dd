import { S3ServiceException } from '@aws-sdk/client-s3';
import { expect, test } from '@jest/globals';
import { openStore } from './store.ts';
import { refused } from './store-errors.ts';

/** What no store in a test does. The rest is in test/backup-store.test.ts, with a store. */
const store = openStore({ env: { AWS_REGION: 'eu-central-1' } }, 'backups');

const told = (name: string, httpStatusCode: number, message: string) => {
  const error = new S3ServiceException({ name, message, $fault: 'client', $metadata: { httpStatusCode } });
  try {
    return refused(store, 'write', 's3://backups/one.age')(error);
  } catch (asTold) {
    return (asTold as Error).message;
  }
};

test.each([
  [
    'RequestTimeTooSkewed',
    403,
    'The difference is too large.',
    /^The clock of this machine and that of S3 in eu-central-1 are too far apart/,
  ],
  [
    'PermanentRedirect',
    301,
    'Use eu-west-1.',
    /^The bucket backups is of another region than AWS_REGION says: Use eu-west-1\.$/,
  ],
  ['ExpiredToken', 400, 'Expired.', /^S3 in eu-central-1 does not accept the credentials \(ExpiredToken\)/],
  [
    'XMinioStorageFull',
    507,
    'No space.',
    /^S3 in eu-central-1 refuses \(507 XMinioStorageFull\): No space\.$/,
  ],
])('%s is told in a line', (name, status, message, expected) => {
  expect(told(name, status, message)).toMatch(expected);
});
