package sharedcluster

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// The keys that the nodes know.
const (
	// AdminKey may do everything.
	AdminKey = "key-of-the-publisher"
	// ReaderKey may read.
	ReaderKey = "key-of-the-readers"
)

const port = 8080

// Config says what cluster to start.
type Config struct {
	// Nodes is how many, 3 by default.
	Nodes int
	// Dir is where data, logs and backups are kept.
	Dir string
	// MemoryLimit is each node's GOMEMLIMIT in MiB, 512 by default.
	MemoryLimit int
	// Env are further environment variables of the nodes, as NAME=VALUE.
	Env []string
}

// Cluster is a running cluster. It is not safe for concurrent use, but that
// nodes may be worked on by different goroutines.
type Cluster struct {
	// Nodes by number.
	Nodes   []*Node
	config  Config
	engine  string
	network *network
}

// Node is one of a cluster.
type Node struct {
	*Host
	// Name is what the engine calls it.
	Name string
	// Log is the file that everything that it says is in.
	Log    string
	dir    string
	engine string
	env    []string
	cmd    *exec.Cmd
	ended  chan struct{} // closed when the process has
}

// Start starts a cluster and waits until every node is ready and knows all
// others. What was started is ended where that fails.
func Start(ctx context.Context, c Config) (*Cluster, error) {
	if err := Available(); err != nil {
		return nil, err
	}
	engine, err := Engine()
	if err != nil {
		return nil, err
	}
	if c.Nodes == 0 {
		c.Nodes = 3
	}
	if c.MemoryLimit == 0 {
		c.MemoryLimit = 512
	}
	n, err := newNetwork()
	if err != nil {
		return nil, err
	}
	cl := &Cluster{config: c, engine: engine, network: n}
	if err := cl.start(ctx); err != nil {
		return nil, errors.Join(err, cl.Logs(2000), cl.Close())
	}
	return cl, nil
}

func (c *Cluster) start(ctx context.Context) error {
	for i := range c.config.Nodes {
		h, err := c.network.add()
		if err != nil {
			return err
		}
		name := "node" + strconv.Itoa(i+1)
		c.Nodes = append(c.Nodes, &Node{Host: h, Name: name, Log: filepath.Join(c.config.Dir, name+".log"), dir: filepath.Join(c.config.Dir, name), engine: c.engine})
	}
	for _, n := range c.Nodes {
		n.env = c.env(n)
		if err := os.MkdirAll(n.dir, 0o755); err != nil {
			return err
		}
		if err := n.Restart(); err != nil {
			return err
		}
	}
	return c.Await(ctx)
}

// env is the environment of a node. The intervals of what heals replicas and
// finds a new leader are shorter than the engine's own, so that tests do not wait for minutes. That of
// flushing is, too: each search for words goes through all words that are not in a segment yet.
func (c *Cluster) env(n *Node) []string {
	var gossip, names []string
	for _, o := range c.Nodes {
		gossip = append(gossip, o.Address+":7946")
		names = append(names, o.Name)
	}
	return append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + n.dir,
		"PERSISTENCE_DATA_PATH=" + n.dir,
		"ENABLE_MODULES=backup-filesystem", "BACKUP_FILESYSTEM_PATH=" + filepath.Join(c.config.Dir, "backups"),
		"CLUSTER_HOSTNAME=" + n.Name, "CLUSTER_BIND_ADDR=" + n.Address, "CLUSTER_ADVERTISE_ADDR=" + n.Address,
		"CLUSTER_GOSSIP_BIND_PORT=7946", "CLUSTER_DATA_BIND_PORT=7947", "CLUSTER_JOIN=" + strings.Join(gossip, ","),
		"RAFT_JOIN=" + strings.Join(names, ","), "RAFT_BOOTSTRAP_EXPECT=" + strconv.Itoa(len(c.Nodes)), "RAFT_TIMEOUTS_MULTIPLIER=2",
		"AUTHENTICATION_APIKEY_ENABLED=true",
		"AUTHENTICATION_APIKEY_ALLOWED_KEYS=" + AdminKey + "," + ReaderKey, "AUTHENTICATION_APIKEY_USERS=publisher,reader",
		"AUTHORIZATION_ADMINLIST_ENABLED=true", "AUTHORIZATION_ADMINLIST_USERS=publisher", "AUTHORIZATION_ADMINLIST_READONLY_USERS=reader",
		"DISABLE_TELEMETRY=true", "DEFAULT_VECTORIZER_MODULE=none", "AUTOSCHEMA_ENABLED=false",
		"ASYNC_REPLICATION_FREQUENCY=3s", "ASYNC_REPLICATION_FREQUENCY_WHILE_PROPAGATING=500ms",
		"ASYNC_REPLICATION_ALIVE_NODES_CHECKING_FREQUENCY=1s", "ASYNC_REPLICATION_PROPAGATION_DELAY=2s",
		"PERSISTENCE_MEMTABLES_FLUSH_DIRTY_AFTER_SECONDS=1",
		"GOMEMLIMIT=" + strconv.Itoa(c.config.MemoryLimit) + "MiB", "LIMIT_RESOURCES=false",
	}, c.config.Env...)
}

// Endpoints are the nodes' URLs, as shared.endpoints wants them.
func (c *Cluster) Endpoints() []string {
	var all []string
	for _, n := range c.Nodes {
		all = append(all, n.URL())
	}
	return all
}

// Others are all nodes but some.
func (c *Cluster) Others(without ...*Node) []*Node {
	return slices.DeleteFunc(slices.Clone(c.Nodes), func(n *Node) bool { return slices.Contains(without, n) })
}

// Add joins another machine to the network, one that is no node: for clients
// that are to be cut off.
func (c *Cluster) Add() (*Host, error) { return c.network.add() }

// Await waits until every node is ready and sees all nodes healthy.
func (c *Cluster) Await(ctx context.Context) error {
	for _, n := range c.Nodes {
		if err := n.await(ctx, len(c.Nodes)); err != nil {
			return err
		}
	}
	return nil
}

// Leader returns the node that leads the others: schemas and tenants are
// decided by it, and without one nothing is written.
func (c *Cluster) Leader(ctx context.Context) (*Node, error) {
	var last error
	for {
		for _, n := range c.Nodes {
			if !n.Running() {
				continue
			}
			var stats struct {
				Statistics []struct{ LeaderID any }
			}
			if last = n.Call(ctx, http.MethodGet, "/v1/cluster/statistics", nil, &stats); last != nil || len(stats.Statistics) == 0 {
				continue
			}
			for _, o := range c.Nodes {
				if o.Name == stats.Statistics[0].LeaderID {
					return o, nil
				}
			}
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("asking for the cluster's leader: %w; at last: %w", ctx.Err(), last)
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// Close ends the nodes and the network. What they kept stays where Config.Dir is.
func (c *Cluster) Close() error {
	var all []error
	for _, n := range c.Nodes {
		all = append(all, n.Kill(), n.close())
	}
	return errors.Join(append(all, c.network.close())...)
}

// Logs is an error that holds the ends of the nodes' logs, for people.
func (c *Cluster) Logs(bytes int) error {
	var b strings.Builder
	for _, n := range c.Nodes {
		raw, err := os.ReadFile(n.Log)
		if err != nil {
			continue
		}
		fmt.Fprintf(&b, "--- the end of %s\n%s\n", n.Log, raw[max(0, len(raw)-bytes):])
	}
	return errors.New(b.String())
}

// URL is where the node's API is.
func (n *Node) URL() string { return "http://" + n.Address + ":" + strconv.Itoa(port) }

// Dir is where the node keeps its data.
func (n *Node) Dir() string { return n.dir }

// Pid is the number of the node's process.
func (n *Node) Pid() int { return n.cmd.Process.Pid }

// Restart starts the node's process; it is not ready yet ([Node.Await], [Cluster.Await]).
func (n *Node) Restart() error {
	if n.Running() {
		return fmt.Errorf("%s runs already", n.Name)
	}
	log, err := os.OpenFile(n.Log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(n.engine, "--host", "0.0.0.0", "--port", strconv.Itoa(port), "--scheme", "http")
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = n.dir, n.env, log, log
	// It ends with the first process of the namespace. (Pdeathsig would end it with the thread
	// that started it.)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := n.Start(cmd); err != nil {
		return fmt.Errorf("starting %s: %w", n.Name, err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(ended)
	}()
	n.cmd, n.ended = cmd, ended
	return nil
}

// Running reports whether the node has a process.
func (n *Node) Running() bool {
	if n.cmd == nil {
		return false
	}
	select {
	case <-n.ended:
		return false
	default:
		return true
	}
}

// Kill ends the node's process as kill -9 does, and returns when it is gone.
func (n *Node) Kill() error {
	if !n.Running() {
		return nil
	}
	if err := n.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("killing %s: %w", n.Name, err)
	}
	<-n.ended
	return nil
}

// Stop ends the node's process as an operator does, and returns when it is
// gone.
func (n *Node) Stop(ctx context.Context) error {
	if !n.Running() {
		return nil
	}
	if err := n.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return fmt.Errorf("stopping %s: %w", n.Name, err)
	}
	select {
	case <-n.ended:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("stopping %s: %w", n.Name, ctx.Err())
	}
}

// Pause stops the node's process where it is; its connections stay.
func (n *Node) Pause() error { return n.cmd.Process.Signal(syscall.SIGSTOP) }

// Resume undoes Pause.
func (n *Node) Resume() error { return n.cmd.Process.Signal(syscall.SIGCONT) }

// SetEngine has the node run another build of the engine from its next start
// on.
func (n *Node) SetEngine(path string) { n.engine = path }

// Await waits until the node is ready.
func (n *Node) Await(ctx context.Context) error { return n.await(ctx, 0) }

// await waits until the node is ready and sees so many healthy nodes.
func (n *Node) await(ctx context.Context, healthy int) error {
	var last error
	for {
		try, cancel := context.WithTimeout(ctx, 5*time.Second)
		last = n.check(try, healthy)
		cancel()
		if last == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w; at last: %w", n.Name, ctx.Err(), last)
		case <-n.ended:
			return fmt.Errorf("%s ended by itself: %s (see %s)", n.Name, n.cmd.ProcessState, n.Log)
		case <-time.After(200 * time.Millisecond):
		}
	}
}

func (n *Node) check(ctx context.Context, healthy int) error {
	if err := n.Call(ctx, http.MethodGet, "/v1/.well-known/ready", nil, nil); err != nil {
		return err
	}
	if healthy == 0 {
		return nil
	}
	var nodes struct {
		Nodes []struct{ Name, Status string }
	}
	if err := n.Call(ctx, http.MethodGet, "/v1/nodes", nil, &nodes); err != nil {
		return err
	}
	count := 0
	for _, o := range nodes.Nodes {
		if o.Status == "HEALTHY" {
			count++
		}
	}
	if count < healthy {
		return fmt.Errorf("%s sees %d healthy nodes of %d: %+v", n.Name, count, healthy, nodes.Nodes)
	}
	return nil
}
