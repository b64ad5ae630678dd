import { reason } from '@quittance/shared/logger';
import { ok, type Result, refuse } from '@quittance/shared/result';
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';

/**
 * Registration and use of passkeys (WebAuthn level 3) by @simplewebauthn/server. The gateway is the relying party, by the host
 * name of PUBLIC_URL. A device must know who uses it (user verification) and find the passkey by itself (discoverable).
 *
 * The library is loaded when it is first needed: most gateways start without that.
 */
const library = () => import('@simplewebauthn/server');

/** How long a challenge counts, and a browser waits for the person. */
export const CHALLENGE_MINUTES = 5;
const TIMEOUT_MS = CHALLENGE_MINUTES * 60_000;

/** ES256, EdDSA, RS256: the first is preferred. */
const ALGORITHMS = [-7, -8, -257];

const TRANSPORTS = ['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb'];

const rpIdOf = (ownOrigin: string): string => new URL(ownOrigin).hostname;

type Known = readonly { credentialId: string; transports: string[] }[];

const descriptorsOf = (known: Known) => known.map(({ credentialId: id, transports }) => ({ id, transports }));

/** What a browser needs to make a passkey for a person. None is made on a device that has one of the known ones. */
export const registrationOptions = async (
  ownOrigin: string,
  person: { handle: Buffer; email: string; name: string },
  known: Known,
) =>
  (await library()).generateRegistrationOptions({
    rpName: new URL(ownOrigin).host,
    rpID: rpIdOf(ownOrigin),
    userID: new Uint8Array(person.handle),
    userName: person.email,
    userDisplayName: person.name,
    timeout: TIMEOUT_MS,
    attestationType: 'none',
    excludeCredentials: descriptorsOf(known),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    supportedAlgorithmIDs: ALGORITHMS,
  });

/** What a browser needs to have a challenge signed: by one of the known passkeys, or, without any, by the one that the person chooses. */
export const signingOptions = async (ownOrigin: string, known: Known) =>
  (await library()).generateAuthenticationOptions({
    rpID: rpIdOf(ownOrigin),
    timeout: TIMEOUT_MS,
    userVerification: 'required',
    allowCredentials: descriptorsOf(known),
  });

export type CreationOptions = Awaited<ReturnType<typeof registrationOptions>>;
export type RequestOptions = Awaited<ReturnType<typeof signingOptions>>;

/** What a browser returns of a new passkey. */
export type CreatedCredential = {
  id: string;
  rawId: string;
  type: 'public-key';
  response: { clientDataJSON: string; attestationObject: string; transports?: string[] | null | undefined };
};

/** What a browser returns of a signature. */
export type SignedCredential = {
  id: string;
  rawId: string;
  type: 'public-key';
  response: {
    clientDataJSON: string;
    authenticatorData: string;
    signature: string;
    userHandle?: string | null | undefined;
  };
};

/** The challenge that a credential was made with. Undefined when it cannot be read, or was made in a frame of another page. */
export function challengeIn({
  response: { clientDataJSON },
}: CreatedCredential | SignedCredential): string | undefined {
  try {
    const { challenge, crossOrigin } = JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString());
    return typeof challenge === 'string' && crossOrigin !== true ? challenge : undefined;
  } catch {
    return undefined;
  }
}

type Expected = { challenge: string; ownOrigin: string };

const expectedOf = ({ challenge, ownOrigin }: Expected) => ({
  expectedChallenge: challenge,
  expectedOrigin: ownOrigin,
  expectedRPID: rpIdOf(ownOrigin),
  requireUserVerification: true,
});

/** An RSA key of 4,096 bits has 550. */
const KEY_BYTES_MAX = 1_024;

/** What is stored of a passkey that was made. */
export type VerifiedCredential = {
  credentialId: string;
  publicKey: Uint8Array;
  signCount: number;
  transports: string[];
};

/** Verifies what a browser returns of a new passkey. @returns what is stored of it, or why it is refused */
export async function verifyCreated(
  credential: CreatedCredential,
  expected: Expected,
): Promise<Result<VerifiedCredential, string>> {
  const { transports, ...response } = credential.response;
  try {
    // The library would read the certificate and ask the addresses in it. No attestation is asked for, so browsers send none.
    if (await hasCertificate(response.attestationObject)) return refuse('it has a certificate of its device');
    const { verifyRegistrationResponse } = await library();
    const { verified, registrationInfo: made } = await verifyRegistrationResponse({
      response: { ...credential, response, clientExtensionResults: {} } satisfies RegistrationResponseJSON,
      ...expectedOf(expected),
      supportedAlgorithmIDs: ALGORITHMS,
    });
    if (!verified) return refuse('its attestation is wrong');
    const { id, publicKey, counter } = made.credential;
    if (id !== credential.id) return refuse('the device and the browser name it differently');
    if (publicKey.length > KEY_BYTES_MAX) return refuse('its key is too large');
    const known = TRANSPORTS.filter((one) => transports?.includes(one));
    return ok({ credentialId: id, publicKey, signCount: counter, transports: known });
  } catch (error) {
    return refuse(reason(error));
  }
}

async function hasCertificate(attestationObject: string): Promise<boolean> {
  const { decodeAttestationObject } = await import('@simplewebauthn/server/helpers');
  const decoded = decodeAttestationObject(new Uint8Array(Buffer.from(attestationObject, 'base64url')));
  const format = decoded.get('fmt');
  return format !== 'none' && (format !== 'packed' || decoded.get('attStmt').get('x5c') !== undefined);
}

/**
 * Verifies a signature of a stored passkey. The counter is not compared here: the one that stores it does, so that it counts
 * also when two requests come at once.
 * @returns the signature counter, or why the signature is refused
 */
export async function verifySigned(
  credential: SignedCredential,
  { credentialId, publicKey }: { credentialId: string; publicKey: Buffer },
  expected: Expected,
): Promise<Result<number, string>> {
  const { userHandle: _, ...response } = credential.response;
  try {
    const { verifyAuthenticationResponse } = await library();
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: { ...credential, response, clientExtensionResults: {} } satisfies AuthenticationResponseJSON,
      ...expectedOf(expected),
      credential: { id: credentialId, publicKey: new Uint8Array(publicKey), counter: 0 },
    });
    return verified ? ok(authenticationInfo.newCounter) : refuse('its signature is wrong');
  } catch (error) {
    return refuse(reason(error));
  }
}
