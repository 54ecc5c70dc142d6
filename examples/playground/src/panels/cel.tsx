/**
 * The CEL panel: evaluates expressions of rules and policies against objects and shows the result, the cost, or the
 * errors.
 */
import { useMemo, useState } from 'preact/hooks';
import { COST_LIMIT, type EvaluationResult, tryExpression } from '../cel/try-expression.js';
import { yamlText } from '../command-line/yaml-text.js';
import { refText } from '../session/refs.js';
import { type Session, useSession } from '../session/session.js';
import { withoutServerFields } from '../yaml/diff.js';
import type { Panel, PanelProps } from './panel.js';

interface Example {
  readonly name: string;
  readonly expression: string;
  readonly variables: string;
}

const EXAMPLES: readonly Example[] = [
  {
    name: 'A validation rule',
    expression: 'self.minReplicas <= self.replicas &&\nself.replicas <= self.maxReplicas',
    variables: 'self:\n  minReplicas: 1\n  replicas: 5\n  maxReplicas: 3\n',
  },
  {
    name: 'A transition rule',
    expression: "self.size >= oldSelf.size || has(self.labels) && 'shrink' in self.labels",
    variables: 'self:\n  size: 2\n  labels: { shrink: "yes" }\noldSelf:\n  size: 3\n',
  },
  {
    name: 'A policy with parameters',
    expression: 'object.spec.template.spec.containers.all(c,\n  params.registries.exists(r, c.image.startsWith(r)))',
    variables:
      'object:\n  kind: Deployment\n  spec:\n    template:\n      spec:\n        containers:\n        - { name: web, image: registry.example.com/web:1 }\n        - { name: log, image: elsewhere.example.com/log:2 }\noldObject: null\nparams:\n  registries: [registry.example.com/]\n',
  },
  {
    name: 'Quantities and optional fields',
    expression: "quantity(object.spec.?limits.memory.orValue('64Mi')).isLessThan(quantity('1Gi'))",
    variables: 'object:\n  spec: {}\n',
  },
];

function CelPanel({ session }: PanelProps) {
  const [expression, setExpression] = useState(EXAMPLES[0]?.expression ?? '');
  const [variables, setVariables] = useState(EXAMPLES[0]?.variables ?? '');
  const tried = useMemo(() => tryExpression(expression, variables), [expression, variables]);
  const choose = (example: Example): void => {
    setExpression(example.expression);
    setVariables(example.variables);
  };
  return (
    <div class="cel">
      <div class="tools">
        {EXAMPLES.map((example) => (
          <button type="button" class="small" key={example.name} onClick={() => choose(example)}>
            {example.name}
          </button>
        ))}
        <span class="spacer" />
        <SelectedObject session={session} use={setVariables} />
      </div>
      <div class="cel-parts">
        <label>
          <span class="cel-caption">Expression</span>
          <textarea
            id="cel-expression"
            spellcheck={false}
            value={expression}
            aria-invalid={tried.state === 'issues'}
            onInput={(event) => setExpression(event.currentTarget.value)}
          />
        </label>
        <label>
          <span class="cel-caption">Variables, as YAML</span>
          <textarea
            id="cel-variables"
            spellcheck={false}
            value={variables}
            aria-invalid={tried.state === 'unread'}
            onInput={(event) => setVariables(event.currentTarget.value)}
          />
        </label>
        <output id="cel-result" aria-live="polite">
          <span class="cel-caption">Result</span>
          <Result tried={tried} />
        </output>
      </div>
    </div>
  );
}

/** Uses the object that is selected in the tree as `object` or as `self`. */
function SelectedObject({ session, use }: { readonly session: Session; readonly use: (variables: string) => void }) {
  const selected = useSession(session, (state) => state.selected);
  if (selected === undefined) return null;
  const take = (name: string): void => {
    const object = session.objectOf(selected);
    if (object !== undefined) use(yamlText({ [name]: withoutServerFields(object) }));
  };
  return (
    <>
      <span class="muted">{refText(selected)}</span>
      <button type="button" class="small" onClick={() => take('object')}>
        as object
      </button>
      <button type="button" class="small" onClick={() => take('self')}>
        as self
      </button>
    </>
  );
}

function Result({ tried }: { readonly tried: EvaluationResult }) {
  switch (tried.state) {
    case 'value': {
      // `false` is a normal result, not an error.
      const tone = tried.type === 'bool' && tried.isTrue ? 'good' : '';
      return (
        <>
          <pre class={`cel-value ${tone}`}>{tried.text}</pre>
          <Cost type={tried.type} cost={tried.cost} />
        </>
      );
    }
    case 'failed':
      return (
        <>
          <pre class="cel-value bad">{tried.message}</pre>
          <Cost type="error" cost={tried.cost} />
        </>
      );
    case 'issues':
      return (
        <>
          <pre class="cel-issues">{tried.text}</pre>
          <p class="muted">{tried.issues.map(({ line, column }) => `line ${line}, column ${column}`).join('; ')}</p>
        </>
      );
    case 'unread':
      return <pre class="cel-value bad">{tried.message}</pre>;
  }
}

function Cost({ type, cost }: { readonly type: string; readonly cost: number }) {
  return <p class="muted">{`${type} · cost ${cost.toLocaleString('en')} of ${COST_LIMIT.toLocaleString('en')}`}</p>;
}

export const celPanel: Panel = { id: 'cel', title: 'CEL', Panel: CelPanel };
