/** No node of a chain could be asked, or all lag, so the records were not compared with the chain. */
export class ChainNotCompared extends Error {
  override name = 'ChainNotCompared';
}
