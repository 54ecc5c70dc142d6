/**
 * For typedoc. Types that the entries mention but do not export (the options of an option, the shape of a field) get a page
 * of their own, in a module called "mentioned types": without it their names would lead nowhere. And entries are called
 * what they are imported by.
 */
import { Context, Converter, ReflectionKind } from 'typedoc';

const MODULE = 'mentioned types';

/** typedoc calls it. */
export function load({ converter }) {
  const mentioned = new Set();
  const { createSymbolReference } = Context.prototype;
  Context.prototype.createSymbolReference = function (symbol, ...rest) {
    mentioned.add(symbol);
    return createSymbolReference.call(this, symbol, ...rest);
  };

  // After all entries were converted, before links are resolved.
  converter.on(Converter.EVENT_CREATE_PROJECT, () => mentioned.clear());
  converter.on(
    Converter.EVENT_RESOLVE_BEGIN,
    (context) => {
      nameEntries(context.project);
      documentMentioned(context, mentioned);
    },
    1_000,
  );
}

function nameEntries({ name, children = [] }) {
  for (const entry of children) entry.name = entry.name === 'index' ? name : `${name}/${entry.name}`;
}

function documentMentioned(context, mentioned) {
  const page = context
    .withScope(context.project)
    .createDeclarationReflection(ReflectionKind.Module, undefined, undefined, MODULE);
  context.finalizeDeclarationReflection(page);
  const inside = context.withScope(page);
  // Documenting one type mentions others: a Set that grows while it is walked is walked to its end.
  for (const symbol of mentioned) {
    const program = programOf(context, symbol);
    if (program === undefined || context.getReflectionFromSymbol(symbol) !== undefined) continue;
    inside.setActiveProgram(program);
    inside.converter.convertSymbol(inside, symbol);
  }
  inside.setActiveProgram(undefined);
}

/** The program that holds a declaration of ours; nothing for what comes from elsewhere, and for type parameters. */
function programOf(context, symbol) {
  const [declaration] = symbol.declarations ?? [];
  const file = declaration?.getSourceFile();
  if (file === undefined || file.isDeclarationFile || !declaration.name) return undefined;
  if (!context.programs.some((program) => program.getSourceFile(file.fileName) === file)) return undefined;
  // Only what stands at the top of a file has a page.
  if (declaration.parent !== file && declaration.parent?.parent?.parent !== file) return undefined;
  return context.programs.find((program) => program.getSourceFile(file.fileName) === file);
}
