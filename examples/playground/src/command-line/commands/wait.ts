/**
 * `wait`: waits until objects have a condition or a value, or are deleted. The timeout is measured on the cluster's
 * clock.
 */
import { type Command, type CommandContext, SELECTOR_FLAGS } from '../command.js';
import { millisecondsOf } from '../duration.js';
import { at, type Json, listAt, mapAt, numberAt, textAt } from '../json.js';
import { valuesAt } from '../json-path.js';
import { pathOf, typeName } from '../resources.js';
import { ServerError } from '../server.js';
import { LineError } from '../split-words.js';
import { type Found, namespaceOf, objectsOf, targetsOf } from '../targets.js';

/** Whether the condition is met. The object is undefined if it does not exist. */
type Condition = (object: Json | undefined) => boolean;

/** The interval at which the cluster's clock is polled, in real milliseconds. */
const POLL_MS = 100;
/** A negative timeout means one week, as in kubectl. */
const WEEK_MS = 7 * 24 * 3_600_000;

export const wait: Command = {
  name: 'wait',
  summary: 'Wait until objects have a condition or a value, or are deleted',
  usage: '(TYPE NAME… | TYPE/NAME… | TYPE -l … | TYPE --all) --for=… [--timeout=30s]',
  kindAt: 0,
  flags: {
    ...SELECTOR_FLAGS,
    for: {
      type: 'text',
      help: "condition=NAME[=VALUE], delete, or jsonpath='{.status.phase}'=VALUE",
      values: ['condition=', 'delete', 'jsonpath='],
    },
    timeout: { type: 'text', help: "timeout on the cluster's clock; 30s by default" },
    all: { type: 'switch', help: 'all objects of the kind' },
  },
  examples: [
    'wait deployment/web --for=condition=Available --timeout=60s',
    'wait pod/web --for=delete',
    "wait pods --all --for=jsonpath='{.status.phase}'=Running",
  ],
  async run(context) {
    const { flags, shell } = context;
    const word = flags.text('for');
    if (word === undefined) throw new LineError('error: --for is required: condition=…, delete or jsonpath=…');
    const isMet = conditionOf(word);
    const found = await findTargets(context, word === 'delete');
    const timeout = flags.text('timeout') ?? '30s';
    const deadline = shell.now() + (timeout.startsWith('-') ? WEEK_MS : millisecondsOf(timeout, 'timeout'));
    let failed = false;
    for (const each of found) failed = !(await waitForCondition(context, each, { isMet, deadline })) || failed;
    if (context.signal.aborted) return 130;
    return failed ? 1 : 0;
  },
};

async function findTargets(context: CommandContext, isForDelete: boolean): Promise<readonly Found[]> {
  const targets = await targetsOf(context);
  const { flags } = context;
  if (targets.named === undefined && !flags.isOn('all') && !flags.has('selector') && !flags.has('field-selector')) {
    throw new LineError('error: resource(s) were provided, but no name was specified');
  }
  try {
    const found = await objectsOf(context, targets);
    if (found.length === 0 && !isForDelete) throw new LineError('error: no matching resources found');
    return found;
  } catch (error) {
    // An object that does not exist counts as deleted.
    if (isForDelete && error instanceof ServerError && error.reason === 'NotFound') return [];
    throw error;
  }
}

interface WaitOptions {
  readonly isMet: Condition;
  /** The deadline on the cluster's clock. */
  readonly deadline: number;
}

async function waitForCondition(
  context: CommandContext,
  found: Found,
  { isMet, deadline }: WaitOptions,
): Promise<boolean> {
  const { resource, name, object } = found;
  const met = (): boolean => {
    context.print(`${typeName(resource)}/${name} condition met`);
    return true;
  };
  if (isMet(object)) return met();
  const late = new AbortController();
  const isLate = (): void => {
    if (context.shell.now() >= deadline) late.abort();
  };
  isLate();
  const timer = setInterval(isLate, POLL_MS);
  try {
    const events = context.server.lines({
      path: pathOf(resource, { namespace: namespaceOf(object) }),
      query: {
        watch: 'true',
        fieldSelector: `metadata.name=${name}`,
        resourceVersion: textAt(object, 'metadata', 'resourceVersion'),
      },
      signal: AbortSignal.any([context.signal, late.signal]),
    });
    if (!late.signal.aborted) {
      for await (const event of events) {
        if (isMet(at(event, 'type') === 'DELETED' ? undefined : mapAt(event, 'object'))) return met();
      }
    }
  } finally {
    clearInterval(timer);
  }
  if (!context.signal.aborted) context.note(`error: timed out waiting for the condition on ${resource.name}/${name}`);
  return false;
}

function conditionOf(word: string): Condition {
  if (word === 'delete') return (object) => object === undefined;
  const [, kind, rest = ''] = /^(condition|jsonpath)=(.*)$/s.exec(word) ?? [];
  if (kind === 'condition' && rest !== '') {
    const [type = '', value = 'true'] = rest.toLowerCase().split('=');
    return (object) => object !== undefined && hasCondition(object, type, value);
  }
  if (kind === 'jsonpath') {
    const [, path = rest, value] = /^\{(.*?)\}(?:=(.*))?$/s.exec(rest) ?? /^([^=]*)=?(.*)$/s.exec(rest) ?? [];
    const isAny = value === undefined || value === '';
    return (object) => object !== undefined && valuesAt(object, path).some((each) => isAny || String(each) === value);
  }
  throw new LineError(`error: unrecognized condition: "${word}"`);
}

/** Ignores conditions that a controller observed for an earlier generation. */
function hasCondition(object: Json, type: string, value: string): boolean {
  const condition = listAt(object, 'status', 'conditions').find((each) => textAt(each, 'type').toLowerCase() === type);
  if (condition === undefined || textAt(condition, 'status').toLowerCase() !== value) return false;
  const observed = numberAt(condition, 'observedGeneration') || numberAt(object, 'status', 'observedGeneration');
  return observed === 0 || observed >= numberAt(object, 'metadata', 'generation');
}
