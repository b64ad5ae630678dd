/** Where a keystore and its passphrase are when nothing else is said: from the working folder of a checkout and of an image. */
export const USUAL_KEYSTORE = 'wallet/keystore.json';
export const USUAL_PASSPHRASE_FILE = 'wallet/passphrase';
