/**
 * A shell for the containers of the playground: `sh -c SCRIPT`, or lines from standard input.
 */
import type { Output, Program, ProgramContainer } from 'orchplane/runtime';
import { type List, parseScript, type Statement, SyntaxProblem, type Word } from './shell-syntax.js';

type Commands = Readonly<Record<string, Program>>;

const NOT_FOUND = 127;
const SYNTAX_ERROR = 2;

/** A loop without a pause passes this time in each turn, so that other programs run, too. */
const LOOP_PAUSE_MS = 10;

/** A shell that runs these commands. */
export function shell(commands: Commands): Program {
  const sh: Program = async (container) => {
    const interpreter = new Interpreter(container, { ...commands, sh });
    const at = container.args.findIndex((arg) => /^-\w*c$/.test(arg));
    if (at >= 0) return interpreter.run(container.args[at + 1] ?? '');
    for await (const line of linesOf(container.stdin)) await interpreter.run(line);
    return interpreter.code;
  };
  return sh;
}

class Interpreter {
  /** The exit code of the last command. */
  code = 0;
  readonly #container: ProgramContainer;
  readonly #commands: Commands;
  readonly #variables: Record<string, string>;

  constructor(container: ProgramContainer, commands: Commands) {
    this.#container = container;
    this.#commands = commands;
    this.#variables = { ...container.env };
  }

  async run(script: string): Promise<number> {
    try {
      await this.#runList(parseScript(script), this.#container.stdout);
    } catch (error) {
      if (!(error instanceof SyntaxProblem)) throw error;
      this.#fail(error.message, SYNTAX_ERROR);
    }
    return this.code;
  }

  async #runList(list: List, stdout: Output): Promise<void> {
    for (const { operator, statement } of list) {
      if (operator === '&&' && this.code !== 0) continue;
      if (operator === '||' && this.code === 0) continue;
      await this.#runStatement(statement, stdout);
    }
  }

  async #runStatement(statement: Statement, stdout: Output): Promise<void> {
    if (statement.type === 'command') return this.#runCommand(statement, stdout);
    const { condition, body } = statement;
    const isMet = async (): Promise<boolean> => {
      await this.#runList(condition, stdout);
      return this.code === 0;
    };
    if (statement.type === 'if') return this.#runList((await isMet()) ? body : statement.otherwise, stdout);
    while ((await isMet()) !== statement.isUntil) {
      await this.#runList(body, stdout);
      await this.#container.sleep(LOOP_PAUSE_MS);
    }
    this.code = 0;
  }

  async #runCommand({ words, redirect }: Statement & { readonly type: 'command' }, stdout: Output): Promise<void> {
    const texts: string[] = [];
    for (const word of words) texts.push(await this.#expand(word));
    const isAssignment = (text: string): boolean => /^[A-Za-z_]\w*=/.test(text);
    const [name = '', ...args] = texts[0] === 'export' ? texts.slice(1) : texts;
    if (isAssignment(name)) {
      for (const text of [name, ...args].filter(isAssignment)) {
        this.#variables[text.slice(0, text.indexOf('='))] = text.slice(text.indexOf('=') + 1);
      }
      // Its exit code is that of a script whose output it takes.
      if (!words.some(({ parts }) => parts.some((part) => typeof part !== 'string' && 'script' in part))) this.code = 0;
      return;
    }
    if (redirect === undefined) return this.#execute(name, args, stdout);
    const output = new TextOutput();
    await this.#execute(name, args, output);
    const { files } = this.#container;
    const path = await this.#expand(redirect.path);
    if (redirect.isAppended) files.append(path, output.text);
    else files.write(path, output.text);
  }

  async #execute(name: string, args: readonly string[], stdout: Output): Promise<void> {
    const container = this.#container;
    if (name === 'exit') container.exit(Number(args[0] ?? this.code));
    if (name === 'help') stdout.write(`${Object.keys(this.#commands).sort().join(' ')} exit\n`);
    const known = name.slice(name.lastIndexOf('/') + 1);
    const command = Object.hasOwn(this.#commands, known) ? this.#commands[known] : undefined;
    if (command === undefined) {
      if (name === 'help') this.code = 0;
      else this.#fail(`${name}: not found`, NOT_FOUND);
      return;
    }
    const stdin = new ReadableStream<Uint8Array>({ start: (controller) => controller.close() });
    const log = (...values: unknown[]): void => stdout.write(`${values.join(' ')}\n`);
    const inner = { ...container, command: [known], args, env: this.#variables, stdin, stdout, log };
    try {
      this.code = (await command(inner)) ?? 0;
    } catch (error) {
      // The container is being stopped, or a shell in this one has exited.
      if (container.signal.aborted || !(error instanceof Error)) throw error;
      this.#fail(error.message, 1);
    }
  }

  async #expand({ parts }: Word): Promise<string> {
    let text = '';
    for (const part of parts) {
      if (typeof part === 'string') text += part;
      else if ('variable' in part) {
        text += part.variable === '?' ? String(this.code) : (this.#variables[part.variable] ?? '');
      } else {
        const output = new TextOutput();
        await this.#runList(parseScript(part.script), output);
        text += output.text.replace(/\n+$/, '');
      }
    }
    return text;
  }

  #fail(message: string, code: number): void {
    this.#container.stderr.write(`sh: ${message}\n`);
    this.code = code;
  }
}

/** Collects what is written. */
class TextOutput implements Output {
  text = '';

  write(data: string | Uint8Array): void {
    this.text += typeof data === 'string' ? data : new TextDecoder().decode(data);
  }
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    const lines = (rest + decoder.decode(next.value, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if (rest !== '') yield rest;
}
