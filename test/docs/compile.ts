/**
 * Compiles texts as modules of a user who installed the package: `orchplane` resolves to the built declarations. All
 * texts are one program.
 */
import { join } from 'node:path';
import ts from 'typescript';
import { entries, root } from '../package/manifest.js';

export interface Compiled {
  /** As `line:column message`, with lines counted from one within the text. */
  readonly errors: readonly string[];
  /** The compiled JavaScript for current Node. */
  readonly code: string;
}

/** The results by the names of the texts. */
export function compile(texts: ReadonlyMap<string, string>): Map<string, Compiled> {
  const fileOf = new Map([...texts.keys()].map((name, index) => [name, join(root, 'test/docs', `text-${index}.ts`)]));
  const virtual = new Map([...texts].map(([name, text]) => [fileOf.get(name) ?? '', text]));
  const options = compilerOptions();
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile, getSourceFile } = host;
  host.fileExists = (file) => virtual.has(file) || fileExists.call(host, file);
  host.readFile = (file) => virtual.get(file) ?? readFile.call(host, file);
  host.getSourceFile = (file, target, ...rest) => {
    const text = virtual.get(file);
    return text === undefined
      ? getSourceFile.call(host, file, target, ...rest)
      : ts.createSourceFile(file, text, target);
  };
  const program = ts.createProgram([...virtual.keys()], options, host);
  return new Map([...fileOf].map(([name, file]) => [name, resultOf(program, file)]));
}

function compilerOptions(): ts.CompilerOptions {
  const config = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile).config;
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
  return {
    ...options,
    types: ['node'],
    paths: Object.fromEntries(entries.map(({ specifier, types }) => [specifier, [types]])),
    noEmit: false,
    declaration: false,
    // Samples may have unused names.
    noUnusedLocals: false,
    noUnusedParameters: false,
  };
}

function resultOf(program: ts.Program, file: string): Compiled {
  const source = program.getSourceFile(file);
  const found = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)];
  let code = '';
  program.emit(source, (_name, text) => {
    code = text;
  });
  return { errors: found.map(print), code };
}

function print({ file, start = 0, messageText }: ts.Diagnostic): string {
  const message = ts.flattenDiagnosticMessageText(messageText, '\n');
  if (file === undefined) return message;
  const { line, character } = file.getLineAndCharacterOfPosition(start);
  return `${line + 1}:${character + 1} ${message}`;
}
