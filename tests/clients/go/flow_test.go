// Package flow has what programs do with dgo, unmodified, against a server that runs at HEXGRAPH_GRPC.
//
// run_go.py runs it with each major version of dgo, whose number it puts in place of the one below.
package flow

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/dgraph-io/dgo/v250"
	"github.com/dgraph-io/dgo/v250/protos/api"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
)

const schema = `
name: string @index(exact, term) @lang .
balance: int .
email: string @index(exact) @upsert .
knows: [uid] @reverse .
type Person {
  name
  balance
}
`

type person struct {
	UID     string   `json:"uid,omitempty"`
	Name    string   `json:"name,omitempty"`
	Balance int      `json:"balance,omitempty"`
	Knows   []person `json:"knows,omitempty"`
	DType   []string `json:"dgraph.type,omitempty"`
}

// connect gives a client of an empty database with the schema.
func connect(t *testing.T) (*dgo.Dgraph, context.Context) {
	t.Helper()
	conn, err := grpc.NewClient(os.Getenv("HEXGRAPH_GRPC"),
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	check(t, err)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	t.Cleanup(func() { cancel(); conn.Close() })
	client := dgo.NewDgraphClient(api.NewDgraphClient(conn))
	if password := os.Getenv("HEXGRAPH_PASSWORD"); password != "" {
		check(t, client.Login(ctx, "groot", password))
	}
	check(t, client.Alter(ctx, &api.Operation{DropAll: true}))
	check(t, client.Alter(ctx, &api.Operation{Schema: schema}))
	return client, ctx
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func equal(t *testing.T, got any, want string) {
	t.Helper()
	text, ok := got.(string)
	if bytes, is := got.([]byte); is {
		text, ok = string(bytes), true
	}
	if !ok || text != want {
		t.Fatalf("got %v, want %s", got, want)
	}
}

func toJSON(t *testing.T, value any) []byte {
	t.Helper()
	text, err := json.Marshal(value)
	check(t, err)
	return text
}

func set(t *testing.T, client *dgo.Dgraph, ctx context.Context, nquads string) map[string]string {
	t.Helper()
	done, err := client.NewTxn().Mutate(ctx, &api.Mutation{SetNquads: []byte(nquads), CommitNow: true})
	check(t, err)
	return done.Uids
}

func ask(t *testing.T, client *dgo.Dgraph, ctx context.Context, query string) string {
	t.Helper()
	told, err := client.NewReadOnlyTxn().Query(ctx, query)
	check(t, err)
	return string(told.Json)
}

func TestObjectsInATransaction(t *testing.T) {
	client, ctx := connect(t)
	ann := person{UID: "_:ann", Name: "Ann", Balance: 3, DType: []string{"Person"},
		Knows: []person{{UID: "_:bob", Name: "Bob"}}}
	txn := client.NewTxn()
	done, err := txn.Mutate(ctx, &api.Mutation{SetJson: toJSON(t, ann)})
	check(t, err)
	if len(done.Uids) != 2 || done.Uids["ann"] == "" {
		t.Fatalf("uids: %v", done.Uids)
	}
	query := `{ q(func: eq(name, "Ann")) { name balance knows { name ~knows { name } } } }`
	want := `{"q":[{"name":"Ann","balance":3,"knows":[{"name":"Bob","~knows":[{"name":"Ann"}]}]}]}`
	own, err := txn.Query(ctx, query)
	check(t, err)
	equal(t, own.Json, want)
	equal(t, ask(t, client, ctx, query), `{"q":[]}`)
	check(t, txn.Commit(ctx))
	equal(t, ask(t, client, ctx, query), want)
	if err := txn.Commit(ctx); !errors.Is(err, dgo.ErrFinished) {
		t.Fatalf("committed twice: %v", err)
	}
	gone := person{UID: done.Uids["ann"]}
	_, err = client.NewTxn().Mutate(ctx, &api.Mutation{DeleteJson: toJSON(t, gone), CommitNow: true})
	check(t, err)
	equal(t, ask(t, client, ctx, query), `{"q":[]}`)
}

func TestTriplesAndVariables(t *testing.T) {
	client, ctx := connect(t)
	set(t, client, ctx, "_:a <name> \"Ann\" .\n_:a <name> \"Anna\"@de .\n_:a <balance> \"5\" .\n_:b <name> \"Bob\" .")
	query := `query q($name: string, $least: int = 1) {
		q(func: eq(name, $name)) @filter(ge(balance, $least)) { name name@de balance }
	}`
	told, err := client.NewReadOnlyTxn().QueryWithVars(ctx, query, map[string]string{"$name": "Ann"})
	check(t, err)
	equal(t, told.Json, `{"q":[{"name":"Ann","name@de":"Anna","balance":5}]}`)
	if told.Latency.TotalNs == 0 || told.Metrics.NumUids["_total"] == 0 || told.Txn.StartTs == 0 {
		t.Fatalf("beside the answer: %v", told)
	}
	vars := map[string]string{"$name": "Ann", "$least": "6"}
	told, err = client.NewReadOnlyTxn().BestEffort().QueryWithVars(ctx, query, vars)
	check(t, err)
	equal(t, told.Json, `{"q":[]}`)
}

func TestAnswersInRDF(t *testing.T) {
	client, ctx := connect(t)
	uids := set(t, client, ctx, "_:a <name> \"Ann\" .\n_:a <knows> _:b .\n_:b <name> \"Bob\" .")
	told, err := client.NewReadOnlyTxn().QueryRDF(ctx, `{ q(func: eq(name, "Ann")) { name knows { name } } }`)
	check(t, err)
	for _, line := range []string{
		"<" + uids["a"] + "> <name> \"Ann\" .",
		"<" + uids["a"] + "> <knows> <" + uids["b"] + "> .",
		"<" + uids["b"] + "> <name> \"Bob\" .",
	} {
		if !strings.Contains(string(told.Rdf), line+"\n") {
			t.Fatalf("%s has no %s", told.Rdf, line)
		}
	}
}

func TestUpserts(t *testing.T) {
	client, ctx := connect(t)
	upsert := &api.Request{
		Query: `query q($email: string) { q(func: eq(email, $email)) { v as uid b as balance more as math(b + 1) } }`,
		Vars:  map[string]string{"$email": "ann@example.org"},
		Mutations: []*api.Mutation{
			{Cond: `@if(eq(len(v), 0))`, SetNquads: []byte("_:n <email> \"ann@example.org\" .\n_:n <balance> \"1\" .")},
			{Cond: `@if(gt(len(v), 0))`, SetNquads: []byte("uid(v) <balance> val(more) .")},
		},
		CommitNow: true,
	}
	first, err := client.NewTxn().Do(ctx, upsert)
	check(t, err)
	if len(first.Uids) != 1 {
		t.Fatalf("uids: %v", first.Uids)
	}
	for range 2 {
		again, err := client.NewTxn().Do(ctx, upsert)
		check(t, err)
		if len(again.Uids) != 0 || !strings.Contains(string(again.Json), first.Uids["n"]) {
			t.Fatalf("not found: %v", again)
		}
	}
	equal(t, ask(t, client, ctx, `{ q(func: has(email)) { email balance } }`),
		`{"q":[{"email":"ann@example.org","balance":3}]}`)
}

func TestConflictsAreRetried(t *testing.T) {
	client, ctx := connect(t)
	uid := set(t, client, ctx, "_:a <name> \"Ann\" .\n_:a <balance> \"0\" .")["a"]
	add := func(txn *dgo.Txn) error {
		defer txn.Discard(ctx)
		told, err := txn.Query(ctx, `{ q(func: uid(`+uid+`)) { balance } }`)
		check(t, err)
		var found struct{ Q []person }
		check(t, json.Unmarshal(told.Json, &found))
		next := person{UID: uid, Balance: found.Q[0].Balance + 1}
		if _, err = txn.Mutate(ctx, &api.Mutation{SetJson: toJSON(t, next)}); err != nil {
			return err
		}
		return txn.Commit(ctx)
	}
	// One that has read before the other has committed.
	early := client.NewTxn()
	_, err := early.Query(ctx, `{ q(func: uid(`+uid+`)) { balance } }`)
	check(t, err)
	check(t, add(client.NewTxn()))
	if err := add(early); !errors.Is(err, dgo.ErrAborted) {
		t.Fatalf("no conflict: %v", err)
	}
	// Four at once, each until it succeeds.
	ends := make(chan error)
	for range 4 {
		go func() {
			err := add(client.NewTxn())
			for errors.Is(err, dgo.ErrAborted) {
				err = add(client.NewTxn())
			}
			ends <- err
		}()
	}
	for range 4 {
		check(t, <-ends)
	}
	equal(t, ask(t, client, ctx, `{ q(func: uid(`+uid+`)) { balance } }`), `{"q":[{"balance":5}]}`)
}

func TestStatementsAsMessages(t *testing.T) {
	client, ctx := connect(t)
	value := func(text string) *api.Value { return &api.Value{Val: &api.Value_StrVal{StrVal: text}} }
	mutation := &api.Mutation{CommitNow: true, Set: []*api.NQuad{
		{Subject: "_:a", Predicate: "name", ObjectValue: value("Ann")},
		{Subject: "_:a", Predicate: "balance", ObjectValue: &api.Value{Val: &api.Value_IntVal{IntVal: 7}}},
		{Subject: "_:a", Predicate: "knows", ObjectId: "_:b", Facets: []*api.Facet{
			{Key: "close", Value: []byte("true"), ValType: api.Facet_BOOL},
		}},
	}}
	done, err := client.NewTxn().Mutate(ctx, mutation)
	check(t, err)
	query := `{ q(func: eq(name, "Ann")) { name balance knows @facets { uid } } }`
	equal(t, ask(t, client, ctx, query),
		`{"q":[{"name":"Ann","balance":7,"knows":[{"uid":"`+done.Uids["b"]+`","knows|close":true}]}]}`)
	gone := &api.Mutation{CommitNow: true}
	dgo.DeleteEdges(gone, done.Uids["a"], "knows", "balance")
	_, err = client.NewTxn().Mutate(ctx, gone)
	check(t, err)
	equal(t, ask(t, client, ctx, query), `{"q":[{"name":"Ann"}]}`)
}

func TestErrorsAreToldWithTheirCodes(t *testing.T) {
	client, ctx := connect(t)
	_, err := client.NewReadOnlyTxn().Query(ctx, `{ q(func: eq(name, "Ann") { name } }`)
	if status.Code(err) != codes.Unknown || !strings.Contains(err.Error(), "line 1 column") {
		t.Fatalf("syntax: %v", err)
	}
	if _, err = client.NewReadOnlyTxn().Mutate(ctx, &api.Mutation{SetNquads: []byte("_:a <name> \"x\" .")}); !errors.Is(err, dgo.ErrReadOnly) {
		t.Fatalf("read-only: %v", err)
	}
	if err = client.Login(ctx, "groot", "wrong password"); err == nil || !strings.Contains(err.Error(), "invalid username or password") {
		t.Fatalf("login: %v", err)
	}
	short, cancel := context.WithTimeout(ctx, time.Nanosecond)
	defer cancel()
	if _, err = client.NewReadOnlyTxn().Query(short, `{ q(func: has(name)) { name } }`); status.Code(err) != codes.DeadlineExceeded {
		t.Fatalf("deadline: %v", err)
	}
	discarded := client.NewTxn()
	_, err = discarded.Mutate(ctx, &api.Mutation{SetNquads: []byte("_:a <name> \"x\" .")})
	check(t, err)
	check(t, discarded.Discard(ctx))
	equal(t, ask(t, client, ctx, `{ q(func: has(name)) { name } }`), `{"q":[]}`)
}

// Where users have rights, each sees what it may read.
func TestRights(t *testing.T) {
	if os.Getenv("HEXGRAPH_PASSWORD") == "" {
		t.Skip("the server has no users")
	}
	groot, ctx := connect(t)
	set(t, groot, ctx, "_:a <name> \"Ann\" .\n_:a <balance> \"1\" .")
	rule := map[string]any{"dgraph.type": "dgraph.type.Rule", "dgraph.rule.predicate": "name", "dgraph.rule.permission": 6}
	group := map[string]any{"dgraph.type": "dgraph.type.Group", "dgraph.xid": "dev", "dgraph.acl.rule": []any{rule}}
	user := map[string]any{"dgraph.type": "dgraph.type.User", "dgraph.xid": "ada", "dgraph.password": "longenough", "dgraph.user.group": []any{group}}
	_, err := groot.NewTxn().Mutate(ctx, &api.Mutation{SetJson: toJSON(t, user), CommitNow: true})
	check(t, err)
	conn, err := grpc.NewClient(os.Getenv("HEXGRAPH_GRPC"), grpc.WithTransportCredentials(insecure.NewCredentials()))
	check(t, err)
	defer conn.Close()
	ada := dgo.NewDgraphClient(api.NewDgraphClient(conn))
	if _, err = ada.NewReadOnlyTxn().Query(ctx, `{ q(func: has(name)) { name } }`); status.Code(err) != codes.Unauthenticated {
		t.Fatalf("without a login: %v", err)
	}
	check(t, ada.Login(ctx, "ada", "longenough"))
	equal(t, ask(t, ada, ctx, `{ q(func: has(name)) { name balance } r(func: has(balance)) { name } }`), `{"q":[{"name":"Ann"}]}`)
	set(t, ada, ctx, "_:b <name> \"Bob\" .")
	_, err = ada.NewTxn().Mutate(ctx, &api.Mutation{SetNquads: []byte("_:b <balance> \"1\" ."), CommitNow: true})
	if status.Code(err) != codes.PermissionDenied || !strings.Contains(err.Error(), "unauthorized to mutate following predicates: balance") {
		t.Fatalf("a predicate without a right: %v", err)
	}
	if err = ada.Alter(ctx, &api.Operation{DropAll: true}); status.Code(err) != codes.PermissionDenied {
		t.Fatalf("dropping all: %v", err)
	}
}

func TestDropping(t *testing.T) {
	client, ctx := connect(t)
	set(t, client, ctx, "_:a <name> \"Ann\" .\n_:a <balance> \"1\" .")
	check(t, client.Alter(ctx, &api.Operation{DropAttr: "balance"}))
	equal(t, ask(t, client, ctx, `{ q(func: has(balance)) { uid } }`), `{"q":[]}`)
	check(t, client.Alter(ctx, &api.Operation{DropOp: api.Operation_DATA}))
	equal(t, ask(t, client, ctx, `{ q(func: has(name)) { uid } }`), `{"q":[]}`)
	if types := ask(t, client, ctx, `schema(pred: [name]) { type }`); !strings.Contains(types, "string") {
		t.Fatalf("schema: %s", types)
	}
	check(t, client.Alter(ctx, &api.Operation{DropOp: api.Operation_TYPE, DropValue: "Person"}))
}
