/* What a browser does with passkeys. It speaks the JSON of the API itself (WebAuthn level 3). */

export const hasPasskeys = (): boolean =>
  'PublicKeyCredential' in window && 'parseRequestOptionsFromJSON' in window.PublicKeyCredential;

/** @throws DOMException `NotAllowedError` when the person has cancelled it, or the device has none */
export async function passkeyAssertion(options: object): Promise<never> {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(
    options as PublicKeyCredentialRequestOptionsJSON,
  );
  return jsonOf(await navigator.credentials.get({ publicKey }));
}

/** @throws DOMException as `passkeyAssertion`, `InvalidStateError` when the device has one of this person already */
export async function newPasskey(options: object): Promise<never> {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(
    options as PublicKeyCredentialCreationOptionsJSON,
  );
  return jsonOf(await navigator.credentials.create({ publicKey }));
}

/** The reference leaves the parts of a credential open, which the server reads. */
function jsonOf(credential: Credential | null): never {
  if (!(credential instanceof PublicKeyCredential)) throw new Error('the browser has made no passkey');
  return credential.toJSON() as never;
}
