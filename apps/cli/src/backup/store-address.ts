import { CommandError } from '../surroundings.ts';

/** A place in a store that speaks S3: a bucket, and what the names in it begin with or are. */
export type StoreAddress = { bucket: string; path: string };

const SCHEME = 's3://';
const ADDRESS = /^s3:\/\/([a-zA-Z0-9][\w.-]{1,254})(?:\/(.*))?$/;

/** Whether a text names a place in a store, and not a file or a folder. */
export const isInStore = (text: string): boolean => text.startsWith(SCHEME);

/** What `s3://bucket/path` names; undefined for a file or a folder. */
export function storeAddress(text: string): StoreAddress | undefined {
  if (!isInStore(text)) return undefined;
  const [, bucket, path = ''] = ADDRESS.exec(text) ?? [];
  if (bucket === undefined)
    // Without the text: it could have a password.
    throw new CommandError(
      'A place in a store is s3://bucket or s3://bucket/path. Credentials and the store itself come from AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION and AWS_ENDPOINT_URL_S3.',
    );
  return { bucket, path: path.replace(/\/+$/, '') };
}

/** The key of an object of this name below the path. */
export const keyBelow = ({ path }: StoreAddress, name: string): string =>
  path === '' ? name : `${path}/${name}`;
