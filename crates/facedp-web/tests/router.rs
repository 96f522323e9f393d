//! The API and the page without a socket.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::time::{Duration, Instant};

use axum::body::Body;
use axum::http::{Method, Request, StatusCode, header};
use axum::response::Response;
use bytes::Bytes;
use facedp_engine::{
    Check, Engine, Key, Limits, MethodName, Request as Settings, Resources, Secret, Workspace,
};
use facedp_web::{Bounds, Config, Token, router};
use futures_util::{StreamExt, stream};
use http_body_util::BodyExt;
use image::GenericImage;
use serde_json::{Value, json};
use tower::ServiceExt;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
const BOUNDARY: &str = "no-photo-holds-this";

fn example(name: &str) -> Vec<u8> {
    std::fs::read(format!("{ROOT}/examples/photos/{name}")).unwrap()
}

/// Under a fixed key, so that results are the same every time.
fn resources() -> Resources {
    let key = Secret::Key(Key::from_bytes([7; 32]));
    Resources { certified_secret: key.clone(), ..Resources::new(key).unwrap() }
}

/// A photo of that many faces, which takes as many times as long.
fn crowd(faces: u32) -> Vec<u8> {
    let one = image::load_from_memory(&example("collins.jpg")).unwrap();
    let mut all = image::DynamicImage::new_rgb8(faces * one.width(), one.height());
    for n in 0..faces {
        all.copy_from(&one, n * one.width(), 0).unwrap();
    }
    let mut file = Vec::new();
    all.write_to(&mut std::io::Cursor::new(&mut file), image::ImageFormat::Png).unwrap();
    file
}

struct Page(axum::Router);

fn page(bounds: Bounds) -> Page {
    Page(router(Config { resources: resources(), bounds, token: None }, 4680).unwrap())
}

/// Other users of the machine can connect too, but do not have the token.
#[test]
fn every_request_needs_the_token() {
    run(async {
        let token = Token::generate().unwrap();
        let config = Config {
            resources: resources(),
            bounds: Bounds::default(),
            token: Some(token.clone()),
        };
        let page = Page(router(config, 4680).unwrap());
        let (token, wrong) = (token.as_str(), "0".repeat(32));
        for path in ["/", "/app.js", "/api/v1/methods", "/api/v1/openapi.json", "/?token=", "/none"]
        {
            assert_eq!(page.get(path).await.status(), StatusCode::UNAUTHORIZED, "{path}");
        }
        let guesses = [
            ("authorization", format!("Bearer {wrong}")),
            ("authorization", token.to_owned()),
            ("cookie", format!("facedp-4680={wrong}")),
            ("cookie", format!("facedp-4681={token}")),
        ];
        for (name, value) in guesses {
            let answer = page.send(Method::GET, "/api/v1/methods", &[(name, &value)]).await;
            assert_eq!(answer.status(), StatusCode::UNAUTHORIZED, "{name}: {value}");
        }
        // The address of the page sets a cookie, and only that address.
        let address = format!("/api/v1/methods?token={token}");
        assert_eq!(page.get(&address).await.status(), StatusCode::UNAUTHORIZED);
        let answer = page.get(&format!("/?token={token}")).await;
        assert_eq!(answer.status(), StatusCode::OK);
        let cookie = answer.headers()["set-cookie"].to_str().unwrap().to_owned();
        assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
        let cookie = format!("other=1; {}", cookie.split(';').next().unwrap());
        for (name, value) in [("cookie", cookie), ("authorization", format!("Bearer {token}"))] {
            let answer = page.send(Method::GET, "/api/v1/methods", &[(name, &value)]).await;
            assert_eq!(answer.status(), StatusCode::OK, "{name}");
        }
        // Other sites are refused with the token, too.
        let more =
            [("origin", "http://evil.example"), ("authorization", &format!("Bearer {token}"))];
        let answer = page.send(Method::GET, "/api/v1/methods", &more).await;
        assert_eq!(answer.status(), StatusCode::FORBIDDEN);
    });
}

/// Streams of one photo, and all together, leave connections for others, and end.
#[test]
fn event_streams_are_bounded() {
    run(async {
        let stream_time = Duration::from_millis(300);
        let bounds = Bounds { streams: 3, streams_of_photo: 2, stream_time, ..Bounds::default() };
        let page = page(bounds);
        let settings = json!({"method": "steered", "strength": "high"});
        let places =
            [page.begin(&crowd(4), settings.clone()).await, page.begin(&crowd(4), settings).await];
        let [first, second] = places.each_ref().map(|address| format!("{address}/events"));
        let mut open = Vec::new();
        for (address, status) in
            [(&first, 200), (&first, 200), (&first, 429), (&second, 200), (&second, 429)]
        {
            let answer = page.get(address).await;
            assert_eq!(answer.status().as_u16(), status, "{address}");
            open.push(answer);
        }
        // They end although the photos are not done, and others take their places.
        for answer in open {
            answer.into_body().collect().await.unwrap();
        }
        assert_eq!(page.get(&first).await.status(), StatusCode::OK);
        for place in places {
            page.send(Method::DELETE, &place, &[]).await;
        }
    });
}

/// A browser gets a number with the page; one browser, and all programs together, leave streams for others.
#[test]
fn event_streams_are_shared_between_clients() {
    run(async {
        let stream_time = Duration::from_secs(300);
        let bounds = Bounds {
            streams: 5,
            streams_of_client: 2,
            streams_of_photo: 9,
            stream_time,
            ..Bounds::default()
        };
        let page = page(bounds);
        let cookie = async || {
            let answer = page.get("/").await;
            let cookie = answer.headers()["set-cookie"].to_str().unwrap();
            assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
            cookie.split(';').next().unwrap().to_owned()
        };
        let [one, other] = [cookie().await, cookie().await];
        assert_ne!(one, other);
        // Who has a number keeps it.
        let again = page.send(Method::GET, "/", &[("cookie", &one)]).await;
        assert!(!again.headers().contains_key("set-cookie"));

        let place = page.begin(&crowd(8), json!({})).await;
        let address = format!("{place}/events");
        let broken = "facedp-4680-client=x";
        let mut open = Vec::new();
        for (client, status) in [
            (one.as_str(), 200),
            (&one, 200),
            (&one, 429),
            ("", 200),
            (broken, 200),
            ("", 429),
            (&other, 200),
            // All places are taken.
            (&other, 429),
        ] {
            let answer = page.send(Method::GET, &address, &[("cookie", client)]).await;
            assert_eq!(answer.status().as_u16(), status, "{client}");
            open.push((client, answer));
        }
        // A place that is left is free for anybody who has fewer than two.
        open.remove(3);
        let answer = page.send(Method::GET, &address, &[("cookie", &one)]).await;
        assert_eq!(answer.status(), StatusCode::TOO_MANY_REQUESTS);
        let answer = page.send(Method::GET, &address, &[("cookie", &other)]).await;
        assert_eq!(answer.status(), StatusCode::OK);
        page.send(Method::DELETE, &place, &[]).await;
    });
}

/// HEIC, which few browsers show, as a JPEG of the same size without metadata.
#[test]
fn previews_can_be_shown() {
    run(async {
        let page = page(Bounds::default());
        let heic = |name: &str| {
            std::fs::read(format!("{ROOT}/crates/facedp-engine/tests/golden/heic/{name}")).unwrap()
        };
        for name in ["phone.heic", "turn-1.heic", "alpha.heic"] {
            let photo = heic(name);
            let found =
                json_of(page.post("/api/v1/detect", form(&[("photo", &photo)])).await).await;
            let shown = page.post("/api/v1/preview", form(&[("photo", &photo)])).await;
            assert_eq!(shown.headers()[header::CONTENT_TYPE], "image/jpeg", "{name}");
            assert_eq!(shown.headers()[header::CACHE_CONTROL], "no-store");
            let shown = bytes(shown).await;
            let picture = image::load_from_memory(&shown).unwrap();
            let size = json!([picture.width(), picture.height()]);
            assert_eq!(
                size,
                json!([found["result"]["width"], found["result"]["height"]]),
                "{name}"
            );
            assert!(!shown.windows(4).any(|part| part == b"Exif"), "{name}");
        }
        let cut = heic("phone.heic")[..9_000].to_vec();
        let failed = json_of(page.post("/api/v1/preview", form(&[("photo", &cut)])).await).await;
        assert_eq!(
            (&failed["state"], &failed["error"]["code"]),
            (&"failed".into(), &"photo".into())
        );
    });
}

/// Runs a test with an executor.
fn run(test: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap().block_on(test);
}

/// A form with these fields.
fn form(fields: &[(&str, &[u8])]) -> Vec<u8> {
    let mut body = Vec::new();
    for (name, value) in fields {
        let file = if *name == "settings" { "" } else { "; filename=\"a photo.jpg\"" };
        let head = format!(
            "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{name}\"{file}\r\n\r\n"
        );
        body.extend_from_slice(head.as_bytes());
        body.extend_from_slice(value);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(format!("--{BOUNDARY}--\r\n").as_bytes());
    body
}

/// A body that comes one piece after the other, as connections deliver them.
fn pieces(body: &[u8]) -> Body {
    let pieces: Vec<Bytes> = body.chunks(1 << 16).map(Bytes::copy_from_slice).collect();
    Body::from_stream(stream::iter(pieces.into_iter().enumerate()).then(|(n, piece)| async move {
        if n > 0 {
            tokio::task::yield_now().await;
        }
        Ok::<_, std::io::Error>(piece)
    }))
}

impl Page {
    async fn ask(&self, request: Request<Body>) -> Response {
        self.0.clone().oneshot(request).await.unwrap()
    }

    async fn send(&self, method: Method, path: &str, more: &[(&str, &str)]) -> Response {
        let mut request =
            Request::builder().method(method).uri(path).header("host", "localhost:4680");
        for (name, value) in more {
            request = request.header(*name, *value);
        }
        self.ask(request.body(Body::empty()).unwrap()).await
    }

    async fn get(&self, path: &str) -> Response {
        self.send(Method::GET, path, &[]).await
    }

    async fn post(&self, path: &str, body: impl Into<Body>) -> Response {
        let kind = format!("multipart/form-data; boundary={BOUNDARY}");
        let request = Request::post(path)
            .header(header::HOST, "127.0.0.1:4680")
            .header(header::CONTENT_TYPE, kind);
        self.ask(request.body(body.into()).unwrap()).await
    }

    /// Begins work on a photo, and returns its address.
    async fn begin(&self, photo: &[u8], settings: Value) -> String {
        let settings = settings.to_string();
        let body = form(&[("settings", settings.as_bytes()), ("photo", photo)]);
        let answer = self.post("/api/v1/protect", pieces(&body)).await;
        if answer.status() != StatusCode::ACCEPTED {
            panic!("{}", json_of(answer).await);
        }
        answer.headers()[header::LOCATION].to_str().unwrap().to_owned()
    }

    /// The final status of a photo.
    async fn finished(&self, place: &str) -> Value {
        let events = self.get(&format!("{place}/events")).await;
        assert_eq!(events.headers()[header::CONTENT_TYPE], "text/event-stream");
        let text = String::from_utf8(bytes(events).await.to_vec()).unwrap();
        let last = text.lines().rev().find_map(|line| line.strip_prefix("data: ")).unwrap();
        serde_json::from_str(last).unwrap()
    }
}

async fn bytes(answer: Response) -> Bytes {
    answer.into_body().collect().await.unwrap().to_bytes()
}

async fn json_of(answer: Response) -> Value {
    serde_json::from_slice(&bytes(answer).await).unwrap()
}

/// Asserts what a refusal says.
async fn refused(answer: Response, status: u16, code: &str, words: &str) {
    let found = answer.status().as_u16();
    let body = json_of(answer).await;
    assert_eq!((found, &body["error"]["code"]), (status, &code.into()), "{body}");
    let message = body["error"]["message"].as_str().unwrap();
    assert!(message.contains(words), "{message}");
}

#[test]
fn the_page_comes_with_a_policy_that_keeps_it_at_home() {
    run(async {
        let page = page(Bounds::default());
        let html = page.get("/").await;
        assert_eq!(html.status(), 200);
        let policy = html.headers()[header::CONTENT_SECURITY_POLICY].to_str().unwrap().to_owned();
        assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
        assert_eq!(html.headers()[header::CACHE_CONTROL], "no-store");
        assert!(html.headers().get(header::ACCESS_CONTROL_ALLOW_ORIGIN).is_none());
        let html = String::from_utf8(bytes(html).await.to_vec()).unwrap();
        // All files that it names are here.
        let named = html.split(['"', '\'']).filter(|word| word.starts_with('/'));
        for name in named {
            assert_eq!(page.get(name).await.status(), 200, "{name}");
        }
        assert!(!html.contains("http"), "{html}");
        refused(page.get("/nowhere").await, 404, "not-found", "nothing").await;
    });
}

#[test]
fn foreign_names_and_pages_are_refused() {
    run(async {
        let page = page(Bounds::default());
        let path = "/api/v1/methods";
        for host in ["127.0.0.1:4680", "localhost:4680", "LOCALHOST:4680"] {
            let request = Request::get(path).header("host", host).body(Body::empty()).unwrap();
            assert_eq!(page.ask(request).await.status(), 200, "{host}");
        }
        for host in ["evil.example:4680", "127.0.0.1", "127.0.0.1:80", "192.168.1.5:4680", ""] {
            let request = Request::get(path).header("host", host).body(Body::empty()).unwrap();
            refused(page.ask(request).await, 403, "foreign", "own address").await;
        }
        let nameless = Request::get(path).body(Body::empty()).unwrap();
        refused(page.ask(nameless).await, 403, "foreign", "own address").await;
        let own = [("origin", "http://localhost:4680"), ("sec-fetch-site", "same-origin")];
        assert_eq!(page.send(Method::GET, path, &own).await.status(), 200);
        for origin in ["http://evil.example", "null", "https://localhost:4680", "http://localhost"]
        {
            let answer = page.send(Method::GET, path, &[("origin", origin)]).await;
            refused(answer, 403, "foreign", "other sites").await;
        }
        let foreign = [("sec-fetch-site", "cross-site")];
        refused(page.send(Method::GET, path, &foreign).await, 403, "foreign", "other sites").await;
        // A link to the page is no harm.
        assert_eq!(page.send(Method::GET, "/", &foreign).await.status(), 200);
        let two = [("host", "evil.example")];
        refused(page.send(Method::GET, path, &two).await, 403, "foreign", "host").await;
    });
}

/// Every described operation is there, and no other.
#[test]
fn the_document_names_what_there_is() {
    run(async {
        let page = page(Bounds::default());
        let document = json_of(page.get("/api/v1/openapi.json").await).await;
        for (path, item) in document["paths"].as_object().unwrap() {
            let real = format!("/api/v1{}", path.replace("{id}", "0"));
            for method in [Method::GET, Method::POST, Method::PUT, Method::DELETE, Method::PATCH] {
                let answer = page.send(method.clone(), &real, &[]).await;
                let (status, headers) = (answer.status(), answer.headers().clone());
                let described = &item[method.as_str().to_lowercase()];
                match described.is_null() {
                    true => {
                        assert_eq!(status, 405, "{method} {path}");
                        assert!(headers.contains_key(header::ALLOW), "{method} {path}");
                    }
                    false => {
                        let known = described["responses"].get(status.as_str());
                        assert!(known.is_some(), "{method} {path}: {status}");
                    }
                }
            }
        }
        let curves = json_of(page.get("/api/v1/plan").await).await;
        assert_eq!(curves["methods"].as_array().unwrap().len(), 7);
    });
}

/// The settings of every offered method are described, and no others.
#[test]
fn the_document_describes_the_settings_of_all_methods() {
    run(async {
        let page = page(Bounds::default());
        let document = json_of(page.get("/api/v1/openapi.json").await).await;
        let variants = document["components"]["schemas"]["Settings"]["oneOf"].as_array().unwrap();
        let offer = json_of(page.get("/api/v1/methods").await).await;
        let offered = offer["methods"].as_array().unwrap();
        assert_eq!(offered.len(), 10);
        assert_eq!(offer["default"], "steered");
        let photo = [
            "faces",
            "boxes",
            "min_score",
            "aligned",
            "crop",
            "copy_faceless",
            "check",
            "measure",
            "format",
            "jpeg_quality",
            "keep_metadata",
        ];
        for method in offered {
            let name: MethodName = serde_json::from_value(method["name"].clone()).unwrap();
            let of = |variant: &&Value| {
                let method = &variant["properties"]["method"];
                method["const"] == name.to_string()
                    || method["enum"]
                        .as_array()
                        .is_some_and(|all| all.contains(&name.to_string().into()))
            };
            let properties =
                variants.iter().filter(of).map(|variant| variant["properties"].as_object());
            let properties: Vec<&str> =
                properties.flat_map(|all| all.unwrap().keys().map(String::as_str)).collect();
            let known = name.info().settings;
            for setting in properties.iter().filter(|name| **name != "method") {
                assert!(known.contains(setting) || photo.contains(setting), "{name}: {setting}");
            }
            // One solver has each of these, and experiments are not for the page.
            let special = ["significance", "eta", "experiment"];
            for setting in known.iter().filter(|setting| !special.contains(setting)) {
                assert!(properties.contains(setting), "{name}: {setting}");
            }
        }
    });
}

#[test]
fn a_photo_is_inspected_treated_fetched_and_deleted() {
    run(async {
        let page = page(Bounds::default());
        let photo = example("hopper.jpg");
        let seen = json_of(page.post("/api/v1/detect", form(&[("photo", &photo)])).await).await;
        assert_eq!(seen["state"], "done");
        assert_eq!(seen["result"]["faces"].as_array().unwrap().len(), 1);
        assert_eq!(seen["result"]["stripped"], json!(["comment"]));

        let settings = r#"{ "method": "rdp-optimal", "epsilon": 0.01, "features": 16 }"#;
        let place = page.begin(&photo, serde_json::from_str(settings).unwrap()).await;
        let last = page.finished(&place).await;
        assert_eq!((&last["state"], &last["name"]), (&"done".into(), &"a photo.jpg".into()));
        // Counts are of faces, and named so: a `done` of 0 beside the state `done` would puzzle people.
        assert_eq!((&last["faces_done"], last.get("done")), (&last["faces"], None), "{last}");
        let result = &last["result"];
        assert_eq!(result["claim"], "paper-accounting");
        // Also after degradation, whatever the method.
        assert!(result["faces"][0]["recognisers"][0]["jpeg_75"]["match"].is_boolean(), "{result}");
        let file = page.get(&format!("{place}/photo")).await;
        assert_eq!(file.headers()[header::CONTENT_TYPE], "image/jpeg");
        let file = bytes(file).await;
        assert_eq!(result["bytes"], file.len());

        // The engine alone makes the same bytes.
        let settings = Settings { check: Check::Off, ..Settings::from_json(settings).unwrap() };
        let engine = Engine::new(settings, resources()).unwrap();
        let expected = engine.protect(&photo, &mut Workspace::default()).unwrap();
        assert!(file == expected.file);

        let receipt = json_of(page.get(&format!("{place}/receipt")).await).await;
        assert_eq!((&receipt["schema"], &receipt["public"]["kind"]), (&2.into(), &"noise".into()));
        assert_eq!(receipt["public"]["claim"], "paper-accounting");
        assert_eq!(receipt["private"]["faces"][0]["details"]["kind"], "noise");
        assert_eq!(receipt["private"]["faces"][0]["face"]["box"], result["faces"][0]["box"]);
        let body = form(&[("original", &photo), ("released", &file)]);
        let checked = json_of(page.post("/api/v1/check", body).await).await;
        assert_eq!(checked["result"]["faces"].as_array().unwrap().len(), 1, "{checked}");

        assert_eq!(page.send(Method::DELETE, &place, &[]).await.status(), 204);
        for path in ["", "/photo", "/receipt", "/events"] {
            refused(page.get(&format!("{place}{path}")).await, 404, "not-found", "no such").await;
        }
    });
}

/// The settings of a form reach the engine.
#[test]
fn settings_choose_faces_and_results() {
    run(async {
        let page = page(Bounds::default());
        let photo = example("collins.jpg");
        let boxed = json!({ "method": "rdp", "faces": [], "boxes": [[20, 300, 90, 90]] });
        let last = page.finished(&page.begin(&photo, boxed).await).await;
        assert_eq!(last["result"]["faces"][0]["box"], json!([20.0, 300.0, 90.0, 90.0]), "{last}");
        let missing = json!({ "method": "rdp", "faces": [2] });
        let last = page.finished(&page.begin(&photo, missing).await).await;
        assert_eq!((&last["state"], &last["error"]["code"]), (&"failed".into(), &"photo".into()));
        assert!(last["error"]["message"].as_str().unwrap().contains("face 2"), "{last}");

        let noise = json!({
            "method": "rdp", "ranking": "amplitude", "basis": "haar", "levels": 5, "geometric_p": 0.1,
            "sensitivity": "measured", "faces": "largest", "min_score": 0.5, "format": "png",
        });
        let last = page.finished(&page.begin(&photo, noise).await).await;
        let result = &last["result"];
        assert_eq!(
            (&result["format"], &result["claim"]),
            (&"png".into(), &"none".into()),
            "{last}"
        );
        let steered = json!({
            "min_quality": 90, "shape": false, "steer_by": ["sface"], "epsilon": 2, "jpeg_quality": 99,
        });
        let place = page.begin(&photo, steered).await;
        let last = page.finished(&place).await;
        let score = last["result"]["faces"][0]["ssimulacra2"].as_f64().unwrap();
        assert!(score >= 90.0, "{last}");
        let receipt = json_of(page.get(&format!("{place}/receipt")).await).await;
        let method = &receipt["public"]["method"];
        assert_eq!(
            (&method["epsilon"], &method["shape"]),
            (&2.0.into(), &false.into()),
            "{method}"
        );
        assert_eq!(method["recognisers"], json!(["sface"]), "{method}");
    });
}

/// What the program can be told about single photos, the API can be told too.
#[test]
fn crops_faceless_photos_and_checks_can_be_set() {
    run(async {
        let page = page(Bounds::default());
        let photo = example("collins.jpg");
        let crop = json!({ "method": "rdp", "aligned": true, "crop": 128, "check": "off", "measure": false });
        let last = page.finished(&page.begin(&photo, crop).await).await;
        let face = &last["result"]["faces"][0];
        assert!(face["box"].is_null() && face["psnr"].is_null(), "{last}");
        assert_eq!(face["recognisers"], json!([]), "{last}");
        let plain = json!({ "method": "rdp", "check": "default" });
        let last = page.finished(&page.begin(&photo, plain).await).await;
        let verdict = &last["result"]["faces"][0]["recognisers"][0];
        assert!(verdict["match"].is_boolean() && verdict["jpeg_75"].is_null(), "{last}");
        let mut empty = Vec::new();
        let blank = image::DynamicImage::new_rgb8(64, 64);
        blank.write_to(&mut std::io::Cursor::new(&mut empty), image::ImageFormat::Png).unwrap();
        for (copy, state) in [(true, "done"), (false, "failed")] {
            let settings = json!({ "copy_faceless": copy });
            assert_eq!(page.finished(&page.begin(&empty, settings).await).await["state"], state);
        }
    });
}

/// One request: the photo in, the changed photo out.
#[test]
fn who_waits_gets_the_photo_itself() {
    run(async {
        let page = page(Bounds { jobs: 1, ..Bounds::default() });
        let photo = example("collins.jpg");
        let waiting = "/api/v1/protect?wait=true";
        let body = || form(&[("settings", br#"{"method":"rdp"}"#), ("photo", &photo)]);
        let answer = page.post(waiting, body()).await;
        assert_eq!(answer.status(), StatusCode::OK);
        assert_eq!(answer.headers()[header::CONTENT_TYPE], "image/jpeg");
        let place = answer.headers()[header::LOCATION].to_str().unwrap().to_owned();
        let file = bytes(answer).await;
        let engine = Engine::new(Settings::from_json(r#"{"method":"rdp"}"#).unwrap(), resources());
        let expected = engine.unwrap().protect(&photo, &mut Workspace::default()).unwrap();
        assert!(file == expected.file);
        // What was done can be asked for, where the body of the other answer says, too.
        let status = json_of(page.get(&place).await).await;
        assert_eq!((&status["state"], &status["status_url"]), (&"done".into(), &place.into()));
        let again = bytes(page.get(status["photo_url"].as_str().unwrap()).await).await;
        assert!(again == file);
        // It makes way at once for the next photo.
        assert_eq!(page.post(waiting, body()).await.status(), StatusCode::OK);
        let damaged = page.post(waiting, form(&[("photo", b"GIF89a")])).await;
        refused(damaged, 422, "photo", "JPEG").await;
        let unsure = page.post("/api/v1/protect?wait=maybe", body()).await;
        refused(unsure, 400, "bad-request", "`wait`").await;
    });
}

/// Who hangs up does not want the photo any more.
#[test]
fn hanging_up_stops_the_work() {
    run(async {
        let page = page(Bounds { jobs: 1, ..Bounds::default() });
        let waiting = "/api/v1/protect?wait=true";
        // More than any machine steers in a second, with a core for each face.
        let long = form(&[("photo", &crowd(24))]);
        let answer =
            tokio::time::timeout(Duration::from_secs(1), page.post(waiting, pieces(&long))).await;
        assert!(answer.is_err(), "24 faces in a second: {answer:?}");
        // The only place is free again.
        let short =
            form(&[("settings", br#"{"method":"rdp"}"#), ("photo", &example("collins.jpg"))]);
        assert_eq!(page.post(waiting, short).await.status(), StatusCode::OK);
    });
}

#[test]
fn wrong_settings_are_refused_with_the_fact() {
    run(async {
        let page = page(Bounds::default());
        let photo = example("collins.jpg");
        for (settings, words) in [
            ("{", "settings: EOF"),
            (r#"{"hue":"red"}"#, "unknown field `hue`"),
            (r#"{"strength":null}"#, "`strength` is null"),
            (r#"{"method":"magic"}"#, "rdp-optimal"),
            (r#"{"method":"rdp","strength":"high"}"#, "not a setting of rdp"),
            (r#"{"features":8}"#, "not a setting of steered"),
            (r#"{"method":"none"}"#, "`none` is not offered"),
            (r#"{"experiment":{}}"#, "`experiment` cannot be set"),
            (r#"{"check":"twice"}"#, "twice"),
            (r#"{"receipt":false}"#, "`receipt` cannot be set"),
            (r#"{"aligned":true,"faces":"all"}"#, "`faces` does not go with `aligned`"),
            (r#"{"aligned":true,"copy_faceless":false}"#, "`copy_faceless` does not go"),
            (r#"{"crop":64}"#, "set `aligned` too"),
            (r#"{"aligned":true,"crop":0}"#, "crop 0: the range is 1 to 1000000"),
            (r#"{"min_quality":29}"#, "30"),
            (r#"{"steer_by":["arcface"]}"#, "unknown recogniser `arcface`"),
            (r#"{"steer_by":["dlib","dlib"]}"#, "names dlib twice"),
            (r#"{"min_score":0}"#, "min_score 0: the range is 0.3 to 1"),
            (r#"{"format":"gif"}"#, "gif"),
            (r#"{"jpeg_quality":0}"#, "jpeg_quality 0: the range is 1 to 100"),
            (r#"{"jpeg_quality":101}"#, "jpeg_quality 101"),
            (r#"{"method":"rdp","geometric_p":1}"#, "between 0 and 1"),
            (r#"{"method":"dct-dp","levels":2}"#, "not a setting of the dct basis"),
            (r#"{"method":"rdp","levels":8}"#, "8"),
            (r#"{"method":"rdp","eta":0.05}"#, "not a setting of rdp"),
            (r#"{"method":"rdp-lmgd","eta":1}"#, "0.01..=0.1"),
            (r#"{"method":"rdp-na","significance":2}"#, "0..=1"),
            (r#"{"method":"rdp-lmgd","ranking":"amplitude"}"#, "does not go with"),
            (r#"{"method":"rdp","mechanism":"knorm"}"#, "not a setting of rdp"),
            (r#"{"method":"rdp","epsilon":0}"#, "above 0"),
            (
                r#"{"method":"rdp","epsilon":1e7}"#,
                "epsilon 10000000: the range is 0.0001 to 1000000",
            ),
            (r#"{"method":"certified","features":65}"#, "65"),
            (r#"{"method":"certified","keep_metadata":true}"#, "metadata"),
            (r#"{"faces":[]}"#, "no face is chosen"),
            (r#"{"faces":[0]}"#, "face 0"),
            (r#"{"faces":"some"}"#, "all, largest"),
            (r#"{"boxes":[[1,2,3]]}"#, "settings"),
            (r#"{"boxes":[[-1,2,3,4]]}"#, "coordinate -1: the range is 0 to 1000000"),
        ] {
            let body = form(&[("photo", &photo), ("settings", settings.as_bytes())]);
            refused(page.post("/api/v1/protect", body).await, 400, "bad-request", words).await;
        }
        let many = json!({ "boxes": vec![[1, 2, 3, 4]; 101] }).to_string();
        let body = form(&[("photo", &photo), ("settings", many.as_bytes())]);
        refused(page.post("/api/v1/protect", body).await, 400, "bad-request", "101 boxes").await;
    });
}

#[test]
fn wrong_forms_and_photos_are_refused() {
    run(async {
        let page = page(Bounds::default());
        let photo = example("collins.jpg");
        for (fields, words) in [
            (vec![("settings", &b"{}"[..])], "no field `photo`"),
            (vec![("photo", &b"x"[..]), ("photo", &b"x"[..])], "two fields"),
            (vec![("foto", &b"x"[..])], "unknown field `foto`"),
            (vec![("photo", &b""[..])], "empty"),
            (vec![("photo", &b"x"[..]), ("settings", &b"[]"[..])], "a JSON object"),
        ] {
            refused(page.post("/api/v1/protect", form(&fields)).await, 400, "bad-request", words)
                .await;
        }
        let settled = form(&[("photo", b"x"), ("settings", b"{}")]);
        refused(page.post("/api/v1/detect", settled).await, 400, "bad-request", "settings").await;
        let cut = form(&[("photo", &photo)])[..2000].to_vec();
        refused(page.post("/api/v1/detect", cut).await, 400, "bad-request", "incomplete form")
            .await;
        let plain = Request::post("/api/v1/detect").header("host", "localhost:4680");
        let answer = page.ask(plain.body(Body::from("x")).unwrap()).await;
        refused(answer, 415, "not-multipart", "multipart").await;
        // A bad photo does not make a bad request.
        let damaged =
            json_of(page.post("/api/v1/detect", form(&[("photo", b"GIF89a")])).await).await;
        assert_eq!(
            (&damaged["state"], &damaged["error"]["code"]),
            (&"failed".into(), &"photo".into())
        );
    });
}

#[test]
fn work_stops_when_its_photo_is_deleted() {
    run(async {
        let page = page(Bounds { jobs: 1, ..Bounds::default() });
        // Far from done while the rest of this test runs, on any machine.
        let place = page.begin(&crowd(8), json!({})).await;
        // One photo is all there is room for.
        let photo = example("collins.jpg");
        let body = form(&[("photo", &photo)]);
        let answer = page.post("/api/v1/protect", body).await;
        assert_eq!(answer.headers()[header::RETRY_AFTER], "1");
        refused(answer, 429, "busy", "try again").await;
        let mut events = page.get(&format!("{place}/events")).await.into_body().into_data_stream();
        loop {
            let event = events.next().await.unwrap().unwrap();
            if String::from_utf8_lossy(&event).contains("working") {
                break;
            }
        }
        refused(page.get(&format!("{place}/photo")).await, 409, "not-done", "wait").await;
        assert_eq!(page.send(Method::DELETE, &place, &[]).await.status(), 204);
        let rest: Vec<_> = StreamExt::collect(events).await;
        let last = rest.last().unwrap().as_ref().unwrap();
        assert!(String::from_utf8_lossy(last).contains("stopped"), "{last:?}");
        // Its place is free again.
        page.begin(&photo, json!({ "method": "rdp" })).await;
    });
}

#[test]
fn size_pixels_time_and_memory_are_bounded() {
    run(async {
        let photo = example("hopper.jpg");
        let small = Limits { file_bytes: 50_000, pixels: 100_000, ..Limits::default() };
        let tight = page(Bounds { photo: small, ..Bounds::default() });
        let body = form(&[("photo", &photo)]);
        refused(tight.post("/api/v1/detect", body).await, 413, "too-large", "MB").await;
        // At once, if a request says how long it is.
        let huge = [("content-length", "1000000000")];
        let answer = tight.send(Method::POST, "/api/v1/detect", &huge).await;
        refused(answer, 413, "too-large", "MB").await;
        // A small file that unpacks to more pixels than are read.
        let mut bomb = Vec::new();
        let black = image::DynamicImage::new_luma8(1000, 1000);
        black.write_to(&mut std::io::Cursor::new(&mut bomb), image::ImageFormat::Png).unwrap();
        let answer = json_of(tight.post("/api/v1/detect", form(&[("photo", &bomb)])).await).await;
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains("1000x1000") && message.contains("100000"), "{message}");

        // What is tried never comes: nothing depends on how brief this is.
        let brief = Duration::from_millis(50);
        let hasty = page(Bounds { silence: brief, ..Bounds::default() });
        let start = Bytes::from(form(&[("photo", &photo)])[..2000].to_vec());
        let silent = stream::iter([Ok::<_, std::io::Error>(start)]).chain(stream::pending());
        let answer = hasty.post("/api/v1/detect", Body::from_stream(silent)).await;
        refused(answer, 408, "slow", "too long").await;

        // What is in no field counts too: no boundary, no end of a field's head, a name without end.
        let plain = page(Bounds::default());
        let endless = || {
            let part = Bytes::from(vec![b'x'; 1 << 16]);
            stream::iter((0..64).map(move |_| Ok::<_, std::io::Error>(part.clone())))
        };
        let head = format!("--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"photo");
        for head in ["", &head, &format!("{head}\"; filename=\"")] {
            let start = Bytes::from(head.to_owned());
            let body = stream::iter([Ok(start)]).chain(endless());
            let answer = plain.post("/api/v1/detect", Body::from_stream(body)).await;
            refused(answer, 400, "bad-request", "between its fields").await;
        }

        let impatient = page(Bounds { job_time: Duration::ZERO, ..Bounds::default() });
        let last = impatient.finished(&impatient.begin(&photo, json!({})).await).await;
        assert_eq!(last["error"]["code"], "timed-out", "{last}");

        let cramped = page(Bounds { uploads: 1 << 16, ..Bounds::default() });
        let many = vec![1; 100_000];
        let answer = cramped.post("/api/v1/detect", form(&[("photo", &many)])).await;
        refused(answer, 429, "busy", "at once").await;
        let again = cramped.post("/api/v1/detect", form(&[("photo", b"x")])).await;
        assert_eq!(again.status(), 200);
    });
}

/// Failed jobs do not keep new ones out.
#[test]
fn failed_jobs_make_room() {
    run(async {
        let page = page(Bounds { jobs: 2, ..Bounds::default() });
        for _ in 0..5 {
            let last =
                page.finished(&page.begin(b"no photo", json!({ "method": "rdp" })).await).await;
            assert_eq!(last["state"], "failed");
        }
    });
}

/// Results that were not fetched give way to newer ones.
#[test]
fn results_are_kept_within_bounds() {
    run(async {
        let photo = example("collins.jpg");
        let room = 2 << 16; // for one result
        let page = page(Bounds { results: room, ..Bounds::default() });
        let settings = || json!({ "method": "rdp" });
        let first = page.begin(&photo, settings()).await;
        assert_eq!(page.finished(&first).await["state"], "done");
        let second = page.begin(&photo, settings()).await;
        assert_eq!(page.finished(&second).await["state"], "done");
        refused(page.get(&first).await, 404, "not-found", "some minutes").await;
        // Somebody who is still reading keeps the room.
        let slow = page.get(&format!("{second}/photo")).await;
        let third = page.begin(&photo, settings()).await;
        let last = page.finished(&third).await;
        assert_eq!(last["error"]["code"], "busy", "{last}");
        drop(slow);
        let last = page.finished(&page.begin(&photo, settings()).await).await;
        assert_eq!(last["state"], "done", "{last}");
        assert_eq!(page.get(&second).await.status(), 404);
    });
}

/// All jobs are deleted after a while: done or failed, fetched or not.
#[test]
fn results_are_not_kept_for_ever() {
    run(async {
        let page = page(Bounds { result_time: Duration::from_millis(200), ..Bounds::default() });
        for photo in [example("collins.jpg"), b"no photo".to_vec()] {
            let place = page.begin(&photo, json!({ "method": "rdp" })).await;
            // For a hang; it takes less than a second.
            let end = Instant::now() + Duration::from_secs(300);
            while page.get(&place).await.status() != 404 {
                assert!(Instant::now() < end, "the result is still there");
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
    });
}
