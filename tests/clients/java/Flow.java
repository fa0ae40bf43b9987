import com.google.protobuf.ByteString;
import io.dgraph.DgraphClient;
import io.dgraph.DgraphGrpc;
import io.dgraph.DgraphProto.Mutation;
import io.dgraph.DgraphProto.Operation;
import io.dgraph.DgraphProto.Request;
import io.dgraph.DgraphProto.Response;
import io.dgraph.Transaction;
import io.dgraph.TxnConflictException;
import io.dgraph.TxnFinishedException;
import io.dgraph.TxnReadOnlyException;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import java.util.List;
import java.util.Map;

/** What programs do with dgraph4j, unmodified, against a server that runs at HEXGRAPH_GRPC. run_java.py runs it. */
public class Flow {
  private static final String SCHEMA =
      """
      name: string @index(exact) .
      balance: int .
      email: string @index(exact) @upsert .
      knows: [uid] @reverse .
      """;
  private static final String NAMES = "{ q(func: has(name), orderasc: name) { name } }";

  private final DgraphClient client;

  private Flow(DgraphClient client) {
    this.client = client;
  }

  /** A flow, which fails by an exception. */
  private interface Test {
    void run() throws Exception;
  }

  public static void main(String[] arguments) throws Exception {
    String address = System.getenv("HEXGRAPH_GRPC");
    ManagedChannel channel = ManagedChannelBuilder.forTarget(address).usePlaintext().build();
    DgraphClient client = new DgraphClient(DgraphGrpc.newStub(channel));
    String password = System.getenv("HEXGRAPH_PASSWORD");
    if (password != null) {
      fails(RuntimeException.class, "no accessJwt available", () -> new Flow(client).ask(NAMES));
      fails(RuntimeException.class, "invalid username or password", () -> client.login("groot", "wrong password"));
      client.login("groot", password);
    }
    Flow flow = new Flow(client);
    List<Test> tests =
        List.of(flow::transactions, flow::triplesAndVariables, flow::upserts, flow::conflicts, flow::whatIsWrong);
    for (Test test : tests) {
      client.alter(Operation.newBuilder().setDropAll(true).build());
      client.alter(Operation.newBuilder().setSchema(SCHEMA).build());
      test.run();
    }
    client.shutdown();
    channel.shutdownNow();
    System.out.println(tests.size() + " flows passed");
  }

  private void transactions() {
    String ann = "{\"uid\": \"_:ann\", \"name\": \"Ann\", \"knows\": [{\"uid\": \"_:bob\", \"name\": \"Bob\"}]}";
    Transaction txn = client.newTransaction();
    Response done = txn.mutate(Mutation.newBuilder().setSetJson(ByteString.copyFromUtf8(ann)).build());
    holds(done.getUidsMap().get("ann").startsWith("0x"), done.getUidsMap().toString());
    equal(json(txn.query(NAMES)), "{\"q\":[{\"name\":\"Ann\"},{\"name\":\"Bob\"}]}");
    equal(ask(NAMES), "{\"q\":[]}");
    txn.commit();
    equal(ask("{ q(func: eq(name, \"Bob\")) { ~knows { name } } }"), "{\"q\":[{\"~knows\":[{\"name\":\"Ann\"}]}]}");
    fails(TxnFinishedException.class, "", txn::commit);
    try (Transaction discarded = client.newTransaction()) {
      discarded.mutate(nquads("_:c <name> \"Cid\" .", false));
    }
    equal(ask(NAMES), "{\"q\":[{\"name\":\"Ann\"},{\"name\":\"Bob\"}]}");
  }

  private void triplesAndVariables() {
    Response done = client.newTransaction().mutate(nquads("_:a <name> \"Ann\" .\n_:b <name> \"Bob\" .", true));
    String query = "query q($name: string) { q(func: eq(name, $name)) { name } }";
    Transaction txn = client.newReadOnlyTransaction();
    txn.setBestEffort(true);
    equal(json(txn.queryWithVars(query, Map.of("$name", "Bob"))), "{\"q\":[{\"name\":\"Bob\"}]}");
    Response told = client.newReadOnlyTransaction().queryRDFWithVars(query, Map.of("$name", "Ann"));
    equal(told.getRdf().toStringUtf8(), "<" + done.getUidsMap().get("a") + "> <name> \"Ann\" .\n");
  }

  private void upserts() {
    Mutation set =
        nquads("_:n <email> \"ann@example.org\" .\n_:n <name> \"Ann\" .", false).toBuilder()
            .setCond("@if(eq(len(v), 0))")
            .build();
    Request request =
        Request.newBuilder()
            .setQuery("{ q(func: eq(email, \"ann@example.org\")) { v as uid } }")
            .addMutations(set)
            .setCommitNow(true)
            .build();
    equal("" + client.newTransaction().doRequest(request).getUidsMap().size(), "1");
    equal("" + client.newTransaction().doRequest(request).getUidsMap().size(), "0");
    equal(ask(NAMES), "{\"q\":[{\"name\":\"Ann\"}]}");
  }

  private void conflicts() {
    Response done = client.newTransaction().mutate(nquads("_:a <balance> \"1\" .", true));
    String uid = done.getUidsMap().get("a");
    Transaction one = client.newTransaction();
    Transaction two = client.newTransaction();
    one.mutate(nquads("<" + uid + "> <balance> \"2\" .", false));
    two.mutate(nquads("<" + uid + "> <balance> \"3\" .", false));
    one.commit();
    fails(TxnConflictException.class, "", two::commit);
    client.newTransaction().mutate(nquads("<" + uid + "> <balance> \"3\" .", true));
    equal(ask("{ q(func: uid(" + uid + ")) { balance } }"), "{\"q\":[{\"balance\":3}]}");
  }

  private void whatIsWrong() {
    fails(RuntimeException.class, "line 1 column", () -> ask("{ q(func: "));
    fails(
        TxnReadOnlyException.class,
        "",
        () -> client.newReadOnlyTransaction().mutate(nquads("_:a <name> \"x\" .", true)));
    String version = client.checkVersion().getTag();
    holds(version.startsWith("v25.2.0+hexgraph."), version);
  }

  private static Mutation nquads(String text, boolean commitNow) {
    return Mutation.newBuilder().setSetNquads(ByteString.copyFromUtf8(text)).setCommitNow(commitNow).build();
  }

  private String ask(String query) {
    return json(client.newReadOnlyTransaction().query(query));
  }

  private static String json(Response response) {
    return response.getJson().toStringUtf8();
  }

  private static void equal(String got, String want) {
    holds(got.equals(want), "got " + got + ", want " + want);
  }

  private static void holds(boolean it, String otherwise) {
    if (!it) throw new AssertionError(otherwise);
  }

  /** Checks that something fails, itself or by a cause, as a kind with these words. */
  private static void fails(Class<? extends Throwable> kind, String words, Test test) {
    try {
      test.run();
    } catch (Throwable thrown) {
      for (Throwable cause = thrown; cause != null; cause = cause.getCause()) {
        if (kind.isInstance(cause) && String.valueOf(cause.getMessage()).contains(words)) return;
      }
      throw new AssertionError("another failure than " + kind.getName() + " with '" + words + "'", thrown);
    }
    throw new AssertionError("it did not fail as " + kind.getName());
  }
}
