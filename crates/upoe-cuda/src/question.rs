//! Candidates on their way to the device, and their sums on the way back.

use crate::device::Busy;
use crate::element::Element;
use upoe::Result;
use upoe::engine::{Candidate, Sums};
use upoe::expert::device::DeviceForm;
use upoe_kernels::Term as _;

/// Candidates in the form that kernels read.
pub(crate) struct Question {
    /// Where the parts are on the device.
    pub directions: u64,
    pub numbers: u64,
    pub experts: u64,
    /// How many candidates, without those that only fill up.
    pub count: usize,
    /// Statistics of all candidates together, and of the one with most.
    pub total: usize,
    pub widest: usize,
    starts: Vec<usize>,
    dims: usize,
    stride: usize,
}

impl Busy<'_> {
    /// Host memory for as many words of an answer.
    pub fn pinned(&mut self, words: usize) -> Result<&mut [u64]> {
        let device = self.device;
        let all = self.work.down.of(&device.context, 8 * words).map_err(|e| device.error(e))?;
        Ok(&mut all[..words])
    }
}

/// A candidate with its expert's device form; without one, the CPU applies the expert.
pub(crate) type Asked<'a> = (&'a Candidate, Option<DeviceForm>);

impl Question {
    /// The most statistics of any of the candidates.
    pub fn widest(asked: &[Asked]) -> usize {
        asked.iter().map(|(c, _)| c.expert.n_sums()).max().unwrap_or(0)
    }

    /// Sends candidates to the device, filled up to `slots` with some that have no expert.
    pub fn send<T: Element>(
        busy: &mut Busy,
        asked: &[Asked],
        slots: usize,
        dims: usize,
        stride: usize,
    ) -> Result<Self> {
        let numbers: usize = asked.iter().flat_map(|(_, f)| f).map(|f| f.numbers.len()).sum();
        // Numbers first, then four integers per slot, then directions, each on a multiple of 16.
        let at_experts = (8 * numbers).next_multiple_of(16);
        let at_directions = at_experts + 16 * slots;
        let bytes = at_directions + slots * stride * size_of::<T>();
        let question = busy.scratch(|w| &mut w.question, bytes)?;
        let (device, mut starts) = (busy.device, Vec::with_capacity(asked.len()));
        let words = busy.work.up.of(&device.context, bytes).map_err(|e| device.error(e))?;
        let words = &mut words[..bytes.div_ceil(8)];
        let (mut number, mut sum) = (0, 0);
        for (i, (c, form)) in asked.iter().enumerate() {
            let family = form.as_ref().map_or(-1, |form| form.family as i64);
            let entry = &mut words[at_experts / 8 + 2 * i..][..2];
            entry[0] = (family as u32 as u64) | ((number as u64) << 32);
            entry[1] = (sum as u64) | ((c.expert.n_sums() as u64) << 32);
            for x in form.iter().flat_map(|form| &form.numbers) {
                words[number] = x.to_bits();
                number += 1;
            }
            starts.push(sum);
            sum += c.expert.n_sums();
            let per_direction = stride * size_of::<T>() / 8;
            T::write(
                &c.direction,
                &mut words[at_directions / 8 + i * per_direction..][..per_direction],
            );
        }
        words[at_directions / 8 + asked.len() * stride * size_of::<T>() / 8..].fill(0);
        for i in asked.len()..slots {
            let entry = &mut words[at_experts / 8 + 2 * i..][..2];
            (entry[0], entry[1]) = (u64::from(u32::MAX), 0);
        }
        let words = &words[..];
        // SAFETY: pinned memory that is written again only by the next question, which comes after
        // the answer to this one; as many bytes were asked for on the device, rounded up.
        let copied = unsafe {
            cudarc::driver::result::memcpy_htod_async(question, words, device.stream.cu_stream())
        };
        copied.map_err(|e| device.error(e))?;
        Ok(Question {
            directions: question + at_directions as u64,
            numbers: question,
            experts: question + at_experts as u64,
            count: asked.len(),
            total: sum,
            widest: Self::widest(asked),
            starts,
            dims,
            stride,
        })
    }

    /// Where a candidate's statistics start.
    pub fn start(&self, i: usize) -> usize {
        self.starts[i]
    }

    /// How many numbers the answer has: gradients of all slots, and statistics.
    pub fn answer_len(&self, slots: usize) -> usize {
        slots * self.stride + self.total
    }

    /// Fetches the answer and reads it.
    pub fn answer(&self, busy: &mut Busy, slots: usize, at: u64) -> Result<Vec<Sums>> {
        let (device, words) = (busy.device, busy.pinned(self.answer_len(slots))?);
        // SAFETY: the answer has as many numbers, and they are borrowed until the queue is done.
        let queued = unsafe {
            cudarc::driver::result::memcpy_dtoh_async(words, at, device.stream.cu_stream())
        };
        queued.and_then(|()| device.stream.synchronize()).map_err(|e| device.error(e))?;
        self.read(busy, slots)
    }

    /// Reads the answer, which is in the host's memory already.
    pub fn read(&self, busy: &mut Busy, slots: usize) -> Result<Vec<Sums>> {
        let words = busy.pinned(self.answer_len(slots))?;
        let read = |words: &[u64]| words.iter().map(|w| f64::from_bits(*w)).collect::<Vec<f64>>();
        let (gradients, statistics) = words.split_at(slots * self.stride);
        let one = |i: usize| {
            let end = self.starts.get(i + 1).copied().unwrap_or(self.total);
            Sums {
                gradient: read(&gradients[i * self.stride..][..self.dims]),
                statistics: read(&statistics[self.starts[i]..end]),
            }
        };
        Ok((0..self.count).map(one).collect())
    }
}
