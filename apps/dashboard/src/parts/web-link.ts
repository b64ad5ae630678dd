/** Whether a text of a merchant, or of somebody else, is an address on the web: nothing else becomes a link. */
export function isWebLink(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol } = new URL(text);
  return protocol === 'https:' || protocol === 'http:';
}
