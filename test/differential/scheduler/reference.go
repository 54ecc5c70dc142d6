// Runs the scheduler of the reference on clusters in JSON: reads one cluster per line, places its pending pods one after the
// other, and writes one line with all decisions. test/differential/scheduler.mjs builds it inside a source tree of
// Kubernetes 1.33 and compares the decisions with those of the library.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/kubernetes/fake"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	_ "k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

type cluster struct {
	ID      string            `json:"id"`
	Objects []json.RawMessage `json:"objects"`
}

type nodeScore struct {
	Name   string           `json:"name"`
	Score  int64            `json:"score"`
	Scores map[string]int64 `json:"scores,omitempty"`
}

type decision struct {
	Pod       string      `json:"pod"`
	Host      string      `json:"host,omitempty"`
	Nodes     []nodeScore `json:"nodes,omitempty"`
	Message   string      `json:"message,omitempty"`
	IsError   bool        `json:"isError,omitempty"`
	Nominated string      `json:"nominated,omitempty"`
	Victims   []string    `json:"victims,omitempty"`
}

type result struct {
	ID        string     `json:"id"`
	Decisions []decision `json:"decisions"`
}

func main() {
	quiet := flag.NewFlagSet("", flag.PanicOnError)
	klog.InitFlags(quiet)
	must(quiet.Parse([]string{"-logtostderr=false", "-stderrthreshold=FATAL"}))
	klog.SetOutput(io.Discard)
	gates := map[string]bool{
		"SchedulerAsyncPreemption":  false,
		"PodLevelResources":         true,
		"DynamicResourceAllocation": true,
	}
	must(utilfeature.DefaultMutableFeatureGate.SetFromMap(gates))
	workers, err := strconv.Atoi(os.Args[1])
	must(err)

	lines := make(chan []byte)
	results := make(chan result)
	var running sync.WaitGroup
	for i := 0; i < workers; i++ {
		running.Add(1)
		go func() {
			defer running.Done()
			for line := range lines {
				var c cluster
				must(json.Unmarshal(line, &c))
				results <- result{ID: c.ID, Decisions: schedule(c)}
			}
		}()
	}
	go func() {
		scanner := bufio.NewScanner(os.Stdin)
		scanner.Buffer(make([]byte, 1024*1024), 256*1024*1024)
		for scanner.Scan() {
			lines <- append([]byte{}, scanner.Bytes()...)
		}
		close(lines)
		running.Wait()
		close(results)
	}()
	out := json.NewEncoder(os.Stdout)
	for r := range results {
		must(out.Encode(r))
	}
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

const cacheDelay = 100 * time.Millisecond

// The other side uses the same.
var firstStart = time.Date(2026, time.November, 18, 0, 0, 0, 0, time.UTC)

func schedule(c cluster) []decision {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var objects []runtime.Object
	var pending []*v1.Pod
	for _, raw := range c.Objects {
		object, _, err := clientscheme.Codecs.UniversalDeserializer().Decode(raw, nil, nil)
		must(err)
		objects = append(objects, object)
		if pod, ok := object.(*v1.Pod); ok && pod.Spec.NodeName == "" {
			pending = append(pending, pod)
		}
	}
	client := fake.NewSimpleClientset(objects...)
	var mu sync.Mutex
	var victims []string
	// The pods stay, so that every decision is made on the state that the other side has.
	client.PrependReactor("delete", "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
		mu.Lock()
		defer mu.Unlock()
		victims = append(victims, action.GetNamespace()+"/"+action.(clienttesting.DeleteAction).GetName())
		return true, nil, nil
	})
	client.PrependReactor("patch", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, &v1.Pod{}, nil
	})
	client.PrependReactor("update", "resourceclaims", func(action clienttesting.Action) (bool, runtime.Object, error) {
		return true, action.(clienttesting.UpdateAction).GetObject(), nil
	})
	informers := scheduler.NewInformerFactory(client, 0)
	recorder := func(string) events.EventRecorder { return &events.FakeRecorder{} }
	sched, err := scheduler.New(ctx, client, informers, nil, recorder)
	must(err)
	informers.Start(ctx.Done())
	informers.WaitForCacheSync(ctx.Done())
	must(sched.WaitForHandlersSync(ctx))
	// The caches of volumes and claims have handlers of their own, which nothing waits for.
	time.Sleep(cacheDelay)

	decisions := []decision{}
	for _, pod := range pending {
		victims = nil
		d := decide(ctx, sched, pod)
		for strings.Contains(d.Message, "could not find v1.") {
			time.Sleep(cacheDelay)
			d = decide(ctx, sched, pod)
		}
		sort.Strings(victims)
		d.Victims = victims
		decisions = append(decisions, d)
		if d.Host == "" {
			continue
		}
		placed := pod.DeepCopy()
		placed.Spec.NodeName = d.Host
		// Pods without a start time have no defined order.
		started := metav1.NewTime(firstStart.Add(time.Duration(len(decisions)) * time.Minute))
		placed.Status.StartTime = &started
		sched.SchedulingQueue.DeleteNominatedPodIfExists(pod)
		must(sched.Cache.AddPod(klog.Background(), placed))
	}
	return decisions
}

func decide(ctx context.Context, sched *scheduler.Scheduler, pod *v1.Pod) decision {
	d := decision{Pod: pod.Namespace + "/" + pod.Name}
	fwk := sched.Profiles[pod.Spec.SchedulerName]
	state := framework.NewCycleState()
	found, err := sched.SchedulePod(ctx, fwk, state, pod)
	var fit *framework.FitError
	if errors.As(err, &fit) {
		nomination, status := fwk.RunPostFilterPlugins(ctx, state, pod, fit.Diagnosis.NodeToStatus)
		fit.Diagnosis.PostFilterMsg = status.Message()
		if nomination != nil && nomination.NominatingInfo != nil {
			d.Nominated = nomination.NominatedNodeName
		}
		d.Message = fit.Error()
		return d
	}
	if err != nil {
		d.Message, d.IsError = err.Error(), true
		return d
	}
	d.Host = found.SuggestedHost
	if found.FeasibleNodes == 1 {
		d.Nodes = []nodeScore{{Name: d.Host}}
		return d
	}
	d.Nodes = scores(ctx, fwk, pod)
	return d
}

// scores repeats the decision and returns the scores of all feasible nodes.
func scores(ctx context.Context, fwk framework.Framework, pod *v1.Pod) []nodeScore {
	state := framework.NewCycleState()
	restricted, status, _ := fwk.RunPreFilterPlugins(ctx, state, pod)
	must(status.AsError())
	all, err := fwk.SnapshotSharedLister().NodeInfos().List()
	must(err)
	var feasible []*framework.NodeInfo
	for _, node := range all {
		if !restricted.AllNodes() && !restricted.NodeNames.Has(node.Node().Name) {
			continue
		}
		if fwk.RunFilterPluginsWithNominatedPods(ctx, state, pod, node).IsSuccess() {
			feasible = append(feasible, node)
		}
	}
	must(fwk.RunPreScorePlugins(ctx, state, pod, feasible).AsError())
	list, status := fwk.RunScorePlugins(ctx, state, pod, feasible)
	must(status.AsError())
	var result []nodeScore
	for _, each := range list {
		byPlugin := map[string]int64{}
		for _, score := range each.Scores {
			byPlugin[score.Name] = score.Score
		}
		result = append(result, nodeScore{Name: each.Name, Score: each.TotalScore, Scores: byPlugin})
	}
	return result
}
