/** An address as what people compare, its begin and its end, and what is between. `0x` and the like say nothing. */
export function addressParts(address: string): { start: string; middle: string; end: string } {
  const prefix = /^(?:0x|bc1.|tb1.|bcrt1.)/.exec(address)?.[0] ?? '';
  const from = prefix.length + 6;
  if (address.length <= from + 6) return { start: address, middle: '', end: '' };
  return { start: address.slice(0, from), middle: address.slice(from, -6), end: address.slice(-6) };
}
