//! The API that is generated from schemas of our own.

use apollo_compiler::Schema;
use apollo_compiler::ast::{Definition, Document};

use crate::generate::{Api, RootKind};
use crate::sdl::{Settings, read};

fn api(schema: &str) -> Api {
    Api::new(&read(schema, &Settings::default()).unwrap()).unwrap()
}

/// The fields of a type as they are printed, without what stands around them.
fn body(api: &Api, definition: &str) -> String {
    let start =
        api.sdl.find(&format!("{definition} {{\n")).unwrap_or_else(|| panic!("no {definition}"));
    let body = api.sdl[start..].split_once("{\n").unwrap().1.split_once("\n}").unwrap().0;
    body.replace('\t', "")
}

#[test]
fn a_type_has_its_operations() {
    let api = api(
        "type BlogPost { id: ID!  slug: String! @id  text: String @search(by: [term, exact])  likes: Int64 }",
    );
    assert_eq!(
        body(&api, "type Query"),
        "getBlogPost(id: ID, slug: String): BlogPost\n\
         queryBlogPost(filter: BlogPostFilter, order: BlogPostOrder, first: Int, offset: Int, after: ID): [BlogPost]\n\
         aggregateBlogPost(filter: BlogPostFilter): BlogPostAggregateResult"
    );
    assert_eq!(
        body(&api, "type Mutation"),
        "addBlogPost(input: [AddBlogPostInput!]!, upsert: Boolean): AddBlogPostPayload\n\
         updateBlogPost(input: UpdateBlogPostInput!): UpdateBlogPostPayload\n\
         deleteBlogPost(filter: BlogPostFilter!): DeleteBlogPostPayload"
    );
    assert_eq!(
        body(&api, "type DeleteBlogPostPayload"),
        "blogPost(filter: BlogPostFilter, order: BlogPostOrder, first: Int, offset: Int): [BlogPost]\n\
         msg: String\nnumUids: Int"
    );
    assert_eq!(
        body(&api, "input BlogPostFilter"),
        "id: [ID!]\nslug: StringHashFilter\ntext: StringExactFilter_StringTermFilter\nhas: [BlogPostHasFilter]\n\
         and: [BlogPostFilter]\nor: [BlogPostFilter]\nnot: BlogPostFilter"
    );
    assert_eq!(
        body(&api, "type BlogPostAggregateResult"),
        "count: Int\nslugMin: String\nslugMax: String\ntextMin: String\ntextMax: String\n\
         likesMin: Int64\nlikesMax: Int64\nlikesSum: Int64\nlikesAvg: Float"
    );
    let root = api.query("aggregateBlogPost").unwrap();
    assert_eq!((root.kind, root.type_name.as_str()), (RootKind::Aggregate, "BlogPost"));
    assert_eq!(api.mutation("addBlogPost").unwrap().kind, RootKind::Add);
    assert!(api.mutation("getBlogPost").is_none());
    assert!(api.is_function_filter("StringExactFilter_StringTermFilter"));
    assert!(!api.is_function_filter("BlogPostFilter"));
}

#[test]
fn lists_of_objects_can_be_paged_and_counted() {
    let api =
        api("type A { n: Int  bs: [B!]  b: B  u: U }  type B { flag: Boolean }  union U = A | B");
    assert_eq!(
        body(&api, "type A"),
        "n: Int\nbs(filter: BFilter, first: Int, offset: Int, after: ID): [B!]\nb(filter: BFilter): B\n\
         u(filter: UFilter): U\nbsAggregate(filter: BFilter): BAggregateResult"
    );
    assert_eq!(
        body(&api, "input UFilter"),
        "memberTypes: [UType!]\naFilter: AFilter\nbFilter: BFilter"
    );
    assert_eq!(body(&api, "input URef"), "aRef: ARef\nbRef: BRef");
    assert_eq!(&*api.possible_types("U"), ["A", "B"]);
}

#[test]
fn what_cannot_be_used_is_not_offered() {
    let schema = "type Alone @generate(mutation: {add: false, delete: false}) { back: [Other] @dgraph(pred: \"~to\") }
        type Other { to: [Alone] @dgraph(pred: \"to\") } type Link { other: Other  name: String }";
    let api = api(schema);
    assert_eq!(
        body(&api, "type Mutation"),
        "deleteOther(filter: OtherFilter!): DeleteOtherPayload\n\
         addLink(input: [AddLinkInput!]!): AddLinkPayload\nupdateLink(input: UpdateLinkInput!): UpdateLinkPayload\n\
         deleteLink(filter: LinkFilter!): DeleteLinkPayload"
    );
    assert_eq!(body(&api, "input AddLinkInput"), "name: String");
    assert!(!api.sdl.contains("AloneRef"));
}

#[test]
fn secrets_are_written_and_checked_but_not_read() {
    let api = api(
        "type U @secret(field: \"pwd\") { mail: String! @id  age: Int! @default(add: {value: \"1\"}) }",
    );
    assert_eq!(body(&api, "input AddUInput"), "mail: String!\nage: Int\npwd: String!");
    assert_eq!(body(&api, "input UPatch"), "mail: String\nage: Int\npwd: String");
    assert!(api.sdl.contains("\tcheckUPassword(mail: String!, pwd: String!): U\n"));
    assert!(!body(&api, "type U @secret(field: \"pwd\")").contains("pwd"));
}

#[test]
fn a_federation_has_its_fields() {
    let api = api("type A @key(fields: \"id\") { id: ID!  n: Int }");
    assert_eq!(api.query("_entities").unwrap().kind, RootKind::Entities);
    assert_eq!(api.query("_service").unwrap().kind, RootKind::Service);
    let service = api.service_sdl.unwrap();
    assert!(service.contains("type A @key(fields: \"id\") {") && !service.contains("_entities"));
    assert!(!service.contains("after: ID"));
}

/// Directives of the schema language are in what is shown with values of other types than GraphQL
/// requests; without them the text is a valid schema.
#[test]
fn the_text_is_a_schema() {
    let api = api(
        "interface I { id: ID!  e: E @search(by: [exact, regexp]) } type A implements I { v: [Float!] @embedding @search(by: [\"hnsw\"]) p: Point @search
           m: MultiPolygon @search  is: [I]  us: [U!]! } enum E { X Y } union U = A | B  type B @withSubscription { k: Int! @id  b: B @hasInverse(field: b) }
         type R @remote { x: Int } type Query { r(a: Int = 5): [R] @custom(dql: \"{ r(func: has(x)) { x } }\") }",
    );
    let mut document = Document::parse(&api.sdl, "schema.graphql").unwrap();
    for definition in &mut document.definitions {
        match definition {
            Definition::ObjectTypeDefinition(ty) => {
                let ty = ty.make_mut();
                ty.directives.clear();
                ty.fields.iter_mut().for_each(|field| field.make_mut().directives.clear());
            }
            Definition::InterfaceTypeDefinition(ty) => {
                ty.make_mut()
                    .fields
                    .iter_mut()
                    .for_each(|field| field.make_mut().directives.clear());
            }
            _ => {}
        }
    }
    let text = document.to_string();
    if let Err(fault) = Schema::parse_and_validate(&text, "schema.graphql") {
        panic!("{}\n{text}", fault.errors);
    }
}
