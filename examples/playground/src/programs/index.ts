/**
 * What the images of the playground run. Every image name works: images without a program of their own run a web server.
 */
import { builtInCommands, type Program, type ProgramImage } from 'orchplane/runtime';
import { crash } from './crash.js';
import { load } from './load.js';
import { shell } from './shell.js';
import { webCommands } from './web-commands.js';
import { webServer } from './web-server.js';
import { webhook } from './webhook.js';

/** Pods in which this label is `true` crash repeatedly. */
const CRASH_LABEL = 'playground/crash';

/** Makes the start of a container visible. */
const PULL_MS = 1_200;

const simpleCommands: Readonly<Record<string, Program>> = { ...builtInCommands, ...webCommands };
const sh = shell(simpleCommands);
const commands: Readonly<Record<string, Program>> = { ...simpleCommands, sh, ash: sh, bash: sh };

/** An image that runs the container's command, or its own program if the container has no command that the page knows. */
function imageOf(own: Program): ProgramImage {
  const run: Program = (container) => {
    if (container.pod.metadata.labels?.[CRASH_LABEL] === 'true') return crash(container);
    const [name = '', ...words] = container.command;
    const command = commandNamed(name);
    return command === undefined ? own(container) : command({ ...container, args: [...words, ...container.args] });
  };
  return { run, commands, pullMs: PULL_MS };
}

/** An image such as busybox: its arguments are a command, and without any it runs a shell. */
const shellImage = imageOf((container) => {
  const [name, ...args] = [...container.command, ...container.args];
  if (name === undefined) return sh({ ...container, args: [] });
  const command = commandNamed(name);
  if (command !== undefined) return command({ ...container, args });
  container.stderr.write(`exec: ${JSON.stringify(name)}: executable file not found in $PATH\n`);
  return 127;
});

function commandNamed(path: string): Program | undefined {
  const name = path.slice(path.lastIndexOf('/') + 1);
  return Object.hasOwn(commands, name) ? commands[name] : undefined;
}

export const images: Readonly<Record<string, ProgramImage>> = {
  '*': imageOf(webServer),
  busybox: shellImage,
  alpine: shellImage,
  'playground/load': imageOf(load),
  'playground/webhook': imageOf(webhook),
};
