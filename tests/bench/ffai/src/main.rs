// What the crate ffai-argus takes for the same question: one more side of the speed comparison.
//
//     bench-ffai MODEL_DIR WIDTHxHEIGHT QUESTION N_TOKENS
//
// The picture is formula_image(WIDTH, HEIGHT, 1) of tools/refs/formula_image.py. The crate stops at an end
// token, so that fewer than N_TOKENS may be made: "tokens" says how many. Prints one JSON object.
//
// Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.
use ffai_argus::engine::{ArgusBytes, SmolVlm};
use ffai_core::engine::VlmOptions;
use ffai_core::types::{ImageBuffer, PixelFormat};
use std::time::Instant;

fn formula(width: u32, height: u32) -> Vec<u8> {
    const S: u32 = 1; // scene; time is 0
    let tri = |v: u32| if v & 511 < 256 { v & 511 } else { 511 - (v & 511) };
    let mut out = Vec::with_capacity((width * height * 3) as usize);
    for y in 0..height {
        for x in 0..width {
            for c in 0..3u32 {
                let a = tri(x * (1 + c) + y * (2 + ((S + c) & 3)) + 61 * S);
                let b = tri((x * x + y * y * (1 + (S + c) % 3)) / (64 + 16 * c) + 29 * c + 97 * S);
                let mut v = (x / 8).wrapping_mul(0x9E37_79B1)
                    ^ (y / 8).wrapping_mul(0x85EB_CA77)
                    ^ c.wrapping_mul(0xC2B2_AE3D)
                    ^ S.wrapping_mul(0x27D4_EB2F);
                v = (v ^ (v >> 15)).wrapping_mul(0x2C1B_3C6D);
                v = (v ^ (v >> 12)).wrapping_mul(0x297A_2D39);
                let n = (v ^ (v >> 15)) & 255;
                let value = (3 * a + 3 * b + 2 * n) / 8;
                let flip = (x / 32) % 7 == S % 7 && (y / 32) % 3 != 1;
                out.push(if flip { 255 - value } else { value } as u8);
            }
        }
    }
    out
}

fn peak_rss_mib() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|l| l.starts_with("VmHWM:")).unwrap_or("VmHWM: 0");
    line.split_whitespace().nth(1).and_then(|v| v.parse::<f64>().ok()).unwrap_or(0.0) / 1024.0
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    assert!(args.len() == 5, "usage: bench-ffai MODEL_DIR WIDTHxHEIGHT QUESTION N_TOKENS");
    let read = |name: &str| std::fs::read(std::path::Path::new(&args[1]).join(name)).expect(name);
    let (w, h) = args[2].split_once('x').expect("WIDTHxHEIGHT");
    let (width, height): (u32, u32) = (w.parse().expect("width"), h.parse().expect("height"));
    let begin = Instant::now();
    let engine = SmolVlm::from_bytes(ArgusBytes {
        weights: read("model.safetensors"),
        config: String::from_utf8(read("config.json")).expect("config.json"),
        tokenizer: read("tokenizer.json"),
    })
    .expect("model");
    let load = begin.elapsed().as_secs_f64();
    let image = ImageBuffer { width, height, format: PixelFormat::Rgb8, data: formula(width, height) };
    let options = VlmOptions {
        prompt: Some(args[3].clone()),
        max_new_tokens: Some(args[4].parse().expect("tokens")),
        ..VlmOptions::default()
    };
    let begin = Instant::now();
    let (_, t) = engine.describe_image_traced(&image, &options).expect("answer");
    let total = begin.elapsed().as_secs_f64();
    let decode: f64 = t.step_ms.iter().sum();
    println!(
        "{{\"load_s\": {load:.4}, \"preprocess_s\": {:.4}, \"vision_s\": {:.4}, \"prefill_s\": {:.4}, \
         \"decode_ms_per_token\": {:.4}, \"total_after_load_s\": {total:.4}, \"frames\": {}, \
         \"prompt_tokens\": {}, \"tokens\": {}, \"peak_rss_mib\": {:.1}}}",
        t.preprocess_ms / 1e3,
        t.tower_ms / 1e3,
        (t.assemble_ms + t.prefill_ms) / 1e3,
        decode / t.step_ms.len().max(1) as f64,
        t.tiles,
        t.prompt_tokens,
        t.step_ms.len(),
        peak_rss_mib()
    );
}
