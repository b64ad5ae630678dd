import ts from 'typescript';

/** The comments of a file with their positions: everything between two tokens that is not white space. */
export function comments(file: ts.SourceFile): { position: number; text: string }[] {
  const found: { position: number; text: string }[] = [];
  const visit = (node: ts.Node) => {
    const children = node.getChildren(file);
    for (const child of children) visit(child);
    if (children.length > 0 || ts.isJSDoc(node)) return;
    const text = file.text.slice(node.pos, node.getStart(file));
    if (text.trim() !== '') found.push({ position: node.pos, text });
  };
  visit(file);
  return found;
}
